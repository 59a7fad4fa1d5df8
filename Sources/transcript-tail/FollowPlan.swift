import Core
import Turns

/// Which files are followed and what is to be read of them next. Whoever has it looks at the place
/// and reads.
final class FollowPlan {
  struct Piece: Equatable {
    var path: String
    var number: UInt64
    var offset: Int64
    var count: Int
  }

  struct Loss: Equatable {
    var path: String
    /// For people: `truncated`, `replaced`.
    var reason: String
    /// What had been read of it, bytes.
    var offset: Int64
  }

  struct Wishes {
    /// Of all sessions, not only of the newest.
    var all = false
    /// Of none: only what is added later.
    var new = false
    /// Of those that were written to since then, and of no other.
    var since: Timestamp?
    /// The longest line, bytes.
    var limit = 256 << 20
  }

  private let wishes: Wishes
  private let isResumed: Bool
  /// Of files that were not seen in this run: they may come back.
  private var marks: [FileKey: FileMark]
  private var files: [FileKey: FollowedFile] = [:]
  /// The most that is read at once, bytes.
  var most: Int
  /// Files with something unread, the next one last.
  private var unread: [FollowedFile] = []
  private var isFirst = true
  /// What the look at the place that goes on has met.
  private var losses: [Loss] = []
  /// How many subagents made each other, down to the one whose transcript is read. What files say may
  /// go round in circles.
  private var depth = 0
  private static let deepest = 16
  /// By sessions, their subagents of which something is unread, and those whose call is known, by it.
  private var subagents: [FileKey: [FollowedFile]] = [:]
  private var calls: [String: FollowedFile] = [:]
  /// Files that had something unread, the latest first: at these somebody is at work.
  private(set) var recent: [String] = []
  private static let mostRecent = 8
  /// Of an id by which a session is known again, bytes: the state holds it.
  private static let longestID = 100

  /// `marks`: how far an earlier run came; nil when there was none.
  init(_ wishes: Wishes, resuming marks: [FileMark]? = nil, atMost most: Int = 1) {
    self.wishes = wishes
    self.most = most
    isResumed = marks != nil
    self.marks = Dictionary((marks ?? []).map { (FileKey($0.path), $0) }, uniquingKeysWith: { $1 })
  }

  /// Takes what a look at the place found: the first time all files, later at least those
  /// that changed.
  func look(_ seen: [SeenFile]) -> [Loss] {
    losses = []
    let isChoosing =
      isFirst && !isResumed && !wishes.all && !wishes.new && wishes.since == nil
    let newest = isChoosing ? Self.newest(of: seen) : nil
    for file in seen {
      let key = FileKey(file.path)
      guard let known = files[key] else {
        let isNewest = newest == key || (newest != nil && Self.owner(of: file.path) == newest)
        files[key] = begin(file, key, isNewest: isNewest)
        continue
      }
      (known.seen.size, known.seen.modified) = (file.size, file.modified)
      if let loss = known.loss(file) { files[key] = begin(file, instead: known, loss) }
    }
    isFirst = false
    unread = Self.ordered(files.values.filter(\.isBehind))
    subagents = Dictionary(grouping: unread.filter { $0.asks > 0 }) { file in
      Self.owner(of: file.path) ?? file.key
    }
    calls = [:]
    if !unread.isEmpty {
      let grown = unread.prefix(Self.mostRecent)
      let keys = Set(grown.map(\.key))
      let before = recent.filter { !keys.contains(FileKey($0)) }
      recent = Array((grown.map(\.path) + before).prefix(Self.mostRecent))
    }
    return losses
  }

  var isEmpty: Bool { files.isEmpty }

  /// Hands over what a piece holds now; nothing where the file is another by now, or cannot be
  /// read: it is looked at again first.
  typealias Read = (Piece, _ bytes: (UnsafeRawBufferPointer) throws -> Void) throws -> Void

  /// Reads a file of at most `ClaudeTranscripts.originLimit` bytes; nil where there is none.
  typealias ReadWhole = (_ path: String) throws -> [UInt8]?

  /// Reads all that there is to be read.
  func read(to output: TranscriptOutput, whole: ReadWhole = { _ in nil }, _ read: Read) throws {
    for file in unread.reversed() {
      while file.isBehind, try readOn(file, output, whole, read) {}
    }
  }

  /// - Returns: whether there may be more of it.
  private func readOn(
    _ file: FollowedFile, _ output: TranscriptOutput, _ whole: ReadWhole, _ read: Read
  ) throws -> Bool {
    for other in subagents.removeValue(forKey: file.key) ?? [] {
      try readOrigin(of: other, whole)
      if let call = other.origin?.withUnsafeBytes(ClaudeTranscripts.call(inOrigin:)) {
        calls[call] = other
      }
    }
    if file.asks > 0, file.isBehind {
      if file.origin == nil { try readOrigin(of: file, whole) }
      file.asks -= 1
      let isTold = try file.origin?.withUnsafeBytes { try output.print(origin: $0, of: file) }
      if isTold == true { file.asks = 0 }
      file.origin = nil
    }
    var isOver = true
    var copied: String?
    var made: FollowedFile?
    let piece = piece(of: file, from: file.cutter.position, to: file.seen.size)
    try read(piece) { bytes in
      if output.isForeign(bytes, piece) { file.isForeign = true }
      isOver = file.isForeign || bytes.isEmpty
      if !isOver { (copied, made) = try append(bytes, to: file, output) }
    }
    // What a subagent did is told within the turn that made it.
    if let made {
      depth += 1
      defer { depth -= 1 }
      while made.isBehind, try readOn(made, output, whole, read) {}
    }
    if let copied { try readOriginals(copied, of: file, output, read) }
    try output.settleSome(self)
    return !isOver
  }

  /// Reads what stands beside the transcript of a subagent, which may be written a moment later.
  private func readOrigin(of file: FollowedFile, _ whole: ReadWhole) throws {
    if let path = ClaudeTranscripts.originFile(ofSubagent: file.path) {
      file.origin = try whole(path)
    }
  }

  /// The subagent that a line says was made, by its result or by the call.
  private func subagent(
    madeBy line: UnsafeRawBufferPointer, in file: FollowedFile
  ) -> FollowedFile? {
    if let path = ClaudeTranscripts.subagentFile(madeBy: line, in: file.path) {
      return files[FileKey(path)]
    }
    if calls.isEmpty { return nil }
    return ClaudeTranscripts.calls(endedBy: line).lazy.compactMap { self.calls[$0] }.first
  }

  private func piece(of file: FollowedFile, from start: Int64, to end: Int64) -> Piece {
    Piece(
      path: file.path, number: file.seen.number, offset: start,
      count: Int(min(Int64(most), end - start)))
  }

  /// - Returns: the first id of a session of which the file is a copy, as that of a session that
  ///   was resumed is; its originals are to be read first. Then the transcript of a subagent that
  ///   was made, which is to be read before the rest.
  private func append(
    _ bytes: UnsafeRawBufferPointer, to file: FollowedFile, _ output: TranscriptOutput
  ) throws -> (copied: String?, made: FollowedFile?) {
    var made: (file: FollowedFile, end: Int64)?
    var losses: [Loss] = []
    var copied: (id: String, begin: Int64)?
    try file.cutter.append(bytes) { what, begin, end throws(WriteFailure) in
      if !losses.isEmpty || copied != nil || made != nil { return }
      let mark: LineMark? =
        if case .whole(let bytes) = what { LineMark(begin: begin, of: bytes) } else { nil }
      if let claim = file.claim {
        file.claim = nil
        if mark == claim.line { file.line = mark } else { losses.append(claim.loss) }
        return
      }
      if file.isWhole, file.first == nil, case .whole(let bytes) = what,
        let id = ClaudeTranscripts.id(of: bytes), id.utf8.count <= Self.longestID
      {
        if !originals(id, of: file).isEmpty {
          copied = (id, begin)
          return
        }
        file.first = id
      }
      (file.line, file.isSkipped) = (mark, false)
      try output.print(what, of: file, begin, end)
      if depth < Self.deepest, case .whole(let bytes) = what,
        let other = subagent(madeBy: bytes, in: file), other !== file, other.isBehind
      {
        made = (other, end)
      }
    }
    if let made { file.cutter = LineCutter(offset: made.end, limit: wishes.limit) }
    if let copied { file.cutter = LineCutter(offset: copied.begin, limit: wishes.limit) }
    if !losses.isEmpty {
      (file.line, file.first) = (nil, nil)
      file.cutter = LineCutter(offset: 0, limit: wishes.limit)
    }
    try output.tell(losses)
    return (copied?.id, made?.file)
  }

  private func originals(_ id: String, of file: FollowedFile) -> [FollowedFile] {
    files.values.filter { $0 !== file && $0.first == id && $0.unseen > 0 }
  }

  /// Reads once more what earlier runs read of other files, to know their lines again.
  private func readOriginals(
    _ id: String, of file: FollowedFile, _ output: TranscriptOutput, _ read: Read
  ) throws {
    for original in originals(id, of: file) {
      var cutter = LineCutter(offset: 0, limit: wishes.limit)
      var isOver = false
      while !isOver, cutter.position < original.unseen {
        let piece = piece(of: original, from: cutter.position, to: original.unseen)
        isOver = true
        try read(piece) { bytes in
          if bytes.isEmpty || output.isForeign(bytes, piece) { return }
          isOver = false
          try cutter.append(bytes) { what, _, _ throws(WriteFailure) in
            if case .whole(let bytes) = what { output.know(bytes) }
          }
        }
      }
      original.unseen = 0
    }
  }

  /// How far all files were read, by name; of those that were not seen, as it was.
  var progress: [FileMark] {
    let all = marks.map { ($0.key, $0.value) } + files.map { ($0.key, $0.value.mark) }
    return all.sorted { $0.0 < $1.0 }.map(\.1)
  }

  private func begin(_ file: SeenFile, _ key: FileKey, isNewest: Bool) -> FollowedFile {
    let limit = wishes.limit
    if let mark = marks.removeValue(forKey: key) {
      let known = FollowedFile(file, from: mark, limit: limit)
      return known.loss(file).map { begin(file, instead: known, $0) } ?? known
    }
    let isRecent = wishes.since.map { file.modified / 1_000_000_000 >= $0.seconds } ?? false
    let isWanted = !isFirst || isResumed || wishes.all || isNewest || isRecent
    let found = FollowedFile(file, offset: isWanted ? 0 : file.size, limit: limit)
    found.isSkipped = !isWanted
    return found
  }

  /// Begins with a file that took the place of another, or lost what it had. Where it may hold
  /// what was read, that is looked at first: what was told is not told again.
  private func begin(_ file: SeenFile, instead known: FollowedFile, _ loss: Loss) -> FollowedFile {
    if file.size >= loss.offset, let line = known.line {
      let found = FollowedFile(file, offset: line.begin, limit: wishes.limit)
      found.claim = (line, loss, known.mark)
      found.first = known.first
      return found
    }
    if file.size >= loss.offset, known.isSkipped {
      let found = FollowedFile(file, offset: loss.offset, limit: wishes.limit)
      found.isSkipped = true
      return found
    }
    losses.append(loss)
    return FollowedFile(file, offset: 0, limit: wishes.limit)
  }

  /// The session that was written last, by itself or by its subagents.
  private static func newest(of seen: [SeenFile]) -> FileKey? {
    let sessions = seen.filter { !ClaudeTranscripts.isOfSubagent($0.path) }
    var times: [FileKey: Int64] = [:]
    for file in sessions.isEmpty ? seen : sessions { times[FileKey(file.path)] = file.modified }
    for file in seen {
      guard let owner = owner(of: file.path), let time = times[owner] else { continue }
      times[owner] = max(time, file.modified)
    }
    return times.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
  }

  private static func owner(of path: String) -> FileKey? {
    ClaudeTranscripts.sessionFile(ofSubagent: path).map(FileKey.init)
  }

  /// Files in the order in which they are read, backwards: the newest last, so that a reader
  /// ends with what happened last, but what subagents did behind their session, which says
  /// who sent them.
  private static func ordered(_ files: [FollowedFile]) -> [FollowedFile] {
    let places = files.map { file in
      let owner = owner(of: file.path)
      return (file: file, group: owner ?? file.key, rank: owner == nil ? 0 : 1)
    }
    var times: [FileKey: Int64] = [:]
    for place in places {
      times[place.group] = max(times[place.group] ?? .min, place.file.seen.modified)
    }
    return places.sorted { one, other in
      if one.group != other.group {
        return (times[one.group] ?? 0, one.group) > (times[other.group] ?? 0, other.group)
      }
      return (one.rank, one.file.seen.modified, one.file.key)
        > (other.rank, other.file.seen.modified, other.file.key)
    }.map(\.file)
  }
}

final class FollowedFile {
  /// As it was seen last; whatever file has the name now, its number is that of the one that is read.
  var seen: SeenFile
  var path: String { seen.path }
  let key: FileKey
  let session: String
  var cutter: LineCutter
  var line: LineMark?
  var isSkipped = false
  /// The line at which a file was left whose name another took.
  var claim: (line: LineMark, loss: FollowPlan.Loss, mark: FileMark)?
  var isForeign = false
  /// The first id of its lines; looked for where it is read from its beginning.
  var first: String?
  let isWhole: Bool
  /// What says who made this subagent, until it was printed, and how often that is still looked for.
  var origin: [UInt8]?
  var asks: Int
  /// Up to where only an earlier run has read it, bytes.
  var unseen: Int64 = 0

  init(_ file: SeenFile, offset: Int64, limit: Int) {
    seen = file
    key = FileKey(file.path)
    session = ClaudeTranscripts.session(of: file.path)
    isWhole = offset == 0
    asks = ClaudeTranscripts.isOfSubagent(file.path) ? 2 : 0
    cutter = LineCutter(offset: offset, limit: limit)
  }

  /// One that goes on at a mark, whatever file has the name now: see `loss`.
  convenience init(_ file: SeenFile, from mark: FileMark, limit: Int) {
    var then = file
    then.number = mark.number
    if mark.born != 0 { then.born = mark.born }
    self.init(then, offset: mark.offset, limit: limit)
    (line, isSkipped, first) = (mark.line, mark.isSkipped, mark.first)
    unseen = mark.isSkipped ? 0 : mark.offset
  }

  var isBehind: Bool { !isForeign && cutter.isBehind(seen.size) }

  var mark: FileMark {
    if let claim { return claim.mark }
    return FileMark(
      path: path, number: seen.number, born: seen.born, offset: cutter.offset, line: line,
      isSkipped: isSkipped, first: first)
  }

  /// What is wrong when the name stands for this file now; nil when it only grew.
  func loss(_ now: SeenFile) -> FollowPlan.Loss? {
    let isSame =
      now.number == seen.number && (seen.born == 0 || now.born == 0 || now.born == seen.born)
    let reason = !isSame ? "replaced" : now.size < cutter.reached ? "truncated" : nil
    return reason.map { .init(path: path, reason: $0, offset: cutter.offset) }
  }
}

struct SeenFile: Equatable {
  var path: String
  /// Of the file system: tells whether another file has taken the name.
  var number: UInt64
  /// Nanoseconds since 1970, for a number may be given again; 0 if not told.
  var born: Int64 = 0
  /// Bytes.
  var size: Int64
  /// When it was written to last, nanoseconds since 1970.
  var modified: Int64
}

struct FileMark: Equatable {
  var path: String
  var number: UInt64
  var born: Int64 = 0
  /// Lines that begin before it were printed, or are not wanted.
  var offset: Int64
  var line: LineMark?
  var isSkipped = false
  var first: String?
}

/// A line that was read, to be known again: a file that is synchronised is replaced by another
/// one with the same lines.
struct LineMark: Equatable {
  /// Where it begins, bytes.
  var begin: Int64
  var digest: UInt64
}

extension LineMark {
  init(begin: Int64, of line: UnsafeRawBufferPointer) {
    self.begin = begin
    // FNV-1a.
    var hash = 0xcbf2_9ce4_8422_2325 ^ UInt64(line.count)
    for byte in line.prefix(1024) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    for byte in line.dropFirst(1024).suffix(1024) {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    digest = hash
  }
}

/// A path by its bytes: names that look alike (NFC and NFD of an é) are equal as Strings, and
/// are not the same file.
struct FileKey: Hashable, Comparable {
  private let bytes: [UInt8]

  init(_ path: String) { bytes = FileName.bytes(path) }

  static func < (one: FileKey, other: FileKey) -> Bool {
    one.bytes.lexicographicallyPrecedes(other.bytes)
  }
}
