import Archive
import Core
import Records

/// Tells of a frame, or of a whole file, by what its index says, whether it has to be read.
///
/// The values in an index are compared by the same tests as those of actions.
struct FrameJudge {
  enum Verdict: Int, Comparable {
    /// None, and there is nothing else in it that is asked for, either.
    case none
    case some
    case all

    static func < (a: Verdict, b: Verdict) -> Bool { a.rawValue < b.rawValue }
  }

  private let options: FilterOptions
  private let scratch = ScanScratch()
  private let readsAll: Bool
  private let skipsFaults: Bool

  init(_ options: FilterOptions, _ inputs: [InputList.Entry], isNameLost: Bool) {
    self.options = options
    let hasPipe = inputs.compactMap(\.path).contains { FileIdentity(path: $0) == nil }
    readsAll =
      options.isInverted || options.isStrict || options.hasNames && (hasPipe || isNameLost)
    skipsFaults = Prefilter.needles(options) != nil
  }

  func verdict(_ frame: FrameSummary) -> FrameSource.Verdict {
    switch judge(frame) {
    case .none: return .skipped
    case .some: return .read
    case .all:
      guard !options.isUnique, options.maxCount == .max || options.output == .nothing else {
        return .read
      }
      switch options.output {
      case .count, .nothing: return .taken(frame.actions, printed: false)
      case .original where frame.isPlain: return .taken(frame.actions, printed: true)
      case .original, .canonical, .fields, .groups: return .read
      }
    }
  }

  func judge(_ frame: FrameSummary) -> Verdict {
    if readsAll { return .some }
    if frame.bad > 0, !skipsFaults { return .some }
    if frame.others > 0, options.passesOthers, options.printsRecords { return .some }
    if frame.actions == 0 { return .none }
    let asked = options.predicate.indexed
    var verdict: Verdict =
      options.predicate.hasOtherTests || frame.bad > 0 ? .some : .all
    for test in [
      { isKind(frame) }, { isInTime(frame) }, { has(asked.guilds, frame.guilds) },
      { has(asked.channels, frame.channels) }, { has(asked.users, frame.users) },
      { isOfProfile(frame) },
    ] as [() -> Verdict] {
      verdict = min(verdict, test())
      if verdict == .none { break }
    }
    return verdict
  }

  private func isKind(_ frame: FrameSummary) -> Verdict {
    let (kinds, domains) = (options.predicate.indexed.kinds, options.predicate.indexed.domains)
    if kinds.isEmpty && domains.isEmpty { return .all }
    guard var members = try? ScanMembers(frame.kinds.bytes) else { return .some }
    var (hits, seen) = (0, 0)
    while (try? members.next()) == true {
      let kind = scratch.text(of: members.key.bytes)
      let count = members.value.wholeNumber ?? 0
      guard count <= frame.actions - seen else { return .some }
      seen += count
      guard kinds.isEmpty || kinds.contains(where: { $0.matches(kind) }) else { continue }
      if isOfDomain(kind, domains, frame) { hits += count }
    }
    if frame.actions > seen, kinds.isEmpty {
      // Those without a kind.
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      if isOfDomain(none, domains, frame) { hits += frame.actions - seen }
    }
    if hits == 0 { return .none }
    return hits == frame.actions && (domains.isEmpty || frame.errors == 0) ? .all : .some
  }

  /// Any action may be the one whose level is error.
  private func isOfDomain(
    _ kind: UnsafeRawBufferPointer, _ domains: DomainTest, _ frame: FrameSummary
  ) -> Bool {
    domains.isEmpty || domains.matches(kind: kind, isErrorLevel: false)
      || frame.errors > 0 && domains.matches(kind: kind, isErrorLevel: true)
  }

  private func isInTime(_ frame: FrameSummary) -> Verdict {
    let (since, before) = (options.predicate.indexed.since, options.predicate.indexed.before)
    if since == nil && before == nil { return .all }
    guard let oldest = frame.oldest, let newest = frame.newest else { return .none }
    if let since, newest < since { return .none }
    if let before, oldest >= before { return .none }
    let isWhole =
      frame.untimed == 0 && since.map { oldest >= $0 } ?? true && before.map { newest < $0 } ?? true
    return isWhole ? .all : .some
  }

  private func has(_ tests: [IDTest], _ values: ScanValue) -> Verdict {
    if tests.isEmpty { return .all }
    return isAny(values) { value in tests.contains { $0.matches(value, scratch) } } ? .some : .none
  }

  private func isOfProfile(_ frame: FrameSummary) -> Verdict {
    if options.profiles.isEmpty { return .all }
    return isAny(frame.profiles) { options.isOfProfile($0, scratch) } ? .some : .none
  }

  /// Whether a value of a set is what is looked for; of an unknown set one may be.
  private func isAny(_ values: ScanValue, _ isWanted: (ScanValue) -> Bool) -> Bool {
    guard var elements = try? ScanElements(values.bytes) else { return true }
    while (try? elements.next()) == true {
      if isWanted(elements.value) { return true }
    }
    return false
  }
}

/// The frames of packed files, one file after the other, that may hold what is looked for;
/// each thread unpacks its own.
final class FrameSource: PieceSource {
  private let queue: InputQueue
  private let isWanted: (FrameSummary) -> Verdict
  private var file: PackedFile?
  private var path = ""
  private var place = 0

  enum Verdict {
    case skipped
    case read
    /// So many actions are selected, which need not be read for it; whether their lines are
    /// what is printed.
    case taken(Int, printed: Bool)
  }

  /// Nil when what comes next is no packed file.
  init?(_ queue: InputQueue, isWanted: @escaping (FrameSummary) -> Verdict) {
    (self.queue, self.isWanted) = (queue, isWanted)
    guard open() else { return nil }
  }

  private func open() -> Bool {
    place = 0
    let next = queue.takePacked { summary in
      if case .skipped = isWanted(summary) { false } else { true }
    }
    (file, path) = (next?.file, next?.path ?? "")
    return file != nil
  }

  func next(_ buffer: PieceBuffer) throws(Failure) -> Piece? {
    repeat {
      while let file, place < file.frames.count {
        let frame = file.frames[place]
        place += 1
        switch isWanted(frame.summary) {
        case .skipped: continue
        case .read: return piece(frame, of: file)
        case .taken(let count, let isPrinted):
          var piece = piece(frame, of: file)
          piece.taken = count
          if !isPrinted { piece.fill = nil }
          return piece
        }
      }
    } while open()
    return nil
  }

  private func piece(_ frame: PackedFrame, of file: PackedFile) -> Piece {
    var piece = Piece(path: path, firstLine: frame.firstLine) {
      (buffer) throws(Failure) in
      try Self.fill(buffer, with: frame, of: file)
    }
    piece.isAlone = true
    return piece
  }

  private final class Tool {
    let decoder = FrameDecoder()
    var room: [UInt8] = []
  }

  private static func fill(
    _ buffer: PieceBuffer, with frame: PackedFrame, of file: PackedFile
  ) throws(Failure) {
    let tool = buffer.tool as? Tool ?? Tool()
    buffer.tool = tool
    let length = frame.summary.length
    try file.read(frame, through: &tool.room, with: tool.decoder) { length in
      buffer.reserve(length + 1)
      return UnsafeMutableRawBufferPointer(start: buffer.base, count: length)
    }
    (buffer.count, buffer.lines) = (length, 0..<length)
  }
}
