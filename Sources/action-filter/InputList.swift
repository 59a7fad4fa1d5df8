import Archive
import CLibc
import Core
import Records

/// What is read, in its order: the files that were named, and those in folders that were.
enum InputList {
  enum Entry {
    case file(path: String)
    case packed(path: String)
    /// A file of a folder that is not compressed, behind compressed ones of the same name.
    case rest(path: String, packed: [String])
    case fault(path: String, reason: String)

    var path: String? {
      switch self {
      case .file(let path), .packed(let path), .rest(let path, _): path
      case .fault: nil
      }
    }
  }

  static let endings = [".zst", ".gz"]

  static func entries(_ options: FilterOptions) -> [Entry] {
    // What has no time would be missed.
    let readsAll = options.isInverted || options.passesOthers
    let window = DayWindow(
      since: readsAll ? nil : options.predicate.indexed.since,
      before: readsAll ? nil : options.predicate.indexed.before)
    var entries: [Entry] = []
    for path in options.files {
      guard path != "-", let status = stat(following: path), status.isFolder else {
        entries.append(.file(path: path))
        continue
      }
      if options.predicate.isUsage {
        let transcripts = TranscriptInput.entries(
          in: path, since: readsAll ? nil : options.predicate.indexed.since)
        if let transcripts {
          entries += transcripts
          continue
        }
      }
      do throws(Failure) {
        let names = try ArchiveFolder(path).files(in: window, now: .now()).map(\.name)
        // Two names may be the same text, and are two files.
        let all = Set(names.map { Array($0.utf8) })
        for name in names {
          let path = Folders.join(path, name)
          guard endings.allSatisfy({ !name.hasSuffix($0) }) else {
            entries.append(.packed(path: path))
            continue
          }
          let ends = endings.filter { all.contains(Array((name + $0).utf8)) }
          entries.append(.rest(path: path, packed: ends.map { path + $0 }))
        }
      } catch {
        entries.append(.fault(path: path, reason: error.reason))
      }
    }
    return entries
  }
}

/// What is still to be read.
///
/// An archiver may put a plain file of a folder into its packed one meanwhile. So the plain one
/// is opened first, and what is read is what was opened.
final class InputQueue {
  let entries: [InputList.Entry]
  private let target: FileIdentity?
  private var rest: ArraySlice<InputList.Entry>
  /// The plain file whose packed ones are read, and what is open of it and of them.
  /// Two names may be the same text, and are two files.
  private var day: [UInt8] = []
  private var held: [[UInt8]: HeldFile] = [:]
  private var isKnown = false

  struct Input {
    let path: String
    let place: String
  }

  init(_ entries: [InputList.Entry], writtenTo target: FileIdentity?) {
    (self.entries, self.target) = (entries, target)
    rest = entries[...]
  }

  var isEmpty: Bool { rest.isEmpty }

  /// The next one, which is passed over. Returns nil when it cannot be read, or was read in a
  /// packed file already: an archiver has not removed it yet, or did so meanwhile.
  func next(fault: (_ path: String, _ reason: String) -> Void) -> Input? {
    hold()
    guard let entry = rest.popFirst() else { return nil }
    isKnown = false
    switch entry {
    case .fault(let path, let reason):
      fault(path, reason)
      return nil
    case .file(let path): return Input(path: path, place: path)
    case .packed(let path): return input(path)
    case .rest(let path, let packed):
      day = []
      return wasRead(path, packed) ? nil : input(path)
    }
  }

  func takePacked(isWanted: (FrameSummary) -> Bool) -> (file: PackedFile, path: String)? {
    if isKnown { return nil }
    hold()
    guard let path = rest.first?.path else { return nil }
    let place = input(path).place
    guard let file = PackedFile(place, writtenTo: target, isWanted: isWanted) else {
      isKnown = true
      return nil
    }
    rest.removeFirst()
    return (file, path)
  }

  private func input(_ path: String) -> Input {
    Input(path: path, place: held[Array(path.utf8)]?.path ?? path)
  }

  private func hold() {
    switch rest.first {
    case .packed(let path):
      open(plain(behind: path) ?? path)
      let name = Array(path.utf8)
      if held[name] == nil { held[name] = HeldFile(path) }
    case .rest(let path, let packed):
      open(path)
      if !packed.isEmpty { return }
      // What was packed since the folder was listed comes first, too.
      let found = InputList.endings.map { path + $0 }
        .filter { stat(following: $0)?.isRegular == true }
      if found.isEmpty { return }
      rest =
        found.map { .packed(path: $0) } + [.rest(path: path, packed: found)]
        + rest.dropFirst()
      hold()
    case .file, .fault, nil: break
    }
  }

  private func plain(behind path: String) -> String? {
    for entry in rest.prefix(1 + InputList.endings.count) {
      guard case .rest(let plain, let packed) = entry else { continue }
      if packed.contains(where: { $0.utf8.elementsEqual(path.utf8) }) { return plain }
    }
    return nil
  }

  private func open(_ plain: String) {
    let name = Array(plain.utf8)
    if day == name { return }
    (day, held) = (name, [:])
    held[name] = HeldFile(plain)
  }

  private func wasRead(_ path: String, _ packed: [String]) -> Bool {
    let packed = packed.compactMap { held[Array($0.utf8)] }
    // It was gone before they were opened.
    guard let plain = held[Array(path.utf8)] else {
      return !packed.isEmpty && stat(following: path) == nil
    }
    return packed.contains { (try? $0.ends(with: plain)) == true }
  }
}

/// A regular file that is held open: what takes its name, or removes it, does not change it.
final class HeldFile {
  /// Where it is opened again. Where the two are one open file, that begins anew, too.
  var path: String {
    lseek(descriptor, 0, SEEK_SET)
    return "/dev/fd/\(descriptor)"
  }
  private let descriptor: Int32

  /// Nil when it is no regular file, is empty, or cannot be opened.
  init?(_ path: String) {
    let file = clibc_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else { return nil }
    descriptor = file
    // Some systems show no open files under names. What an empty file means is told by its own.
    if FileIdentity(descriptor: file) == nil || size == 0 || stat(following: self.path) == nil {
      return nil
    }
  }

  deinit { close(descriptor) }

  private var size: Int { Int(FileVersion(descriptor)?.size ?? 0) }

  func ends(with plain: HeldFile) throws -> Bool {
    var more = try length - plain.size
    if more < 0 { return false }
    var whole = try RecordInput(path: path, .bytes)
    var rest = try RecordInput(path: plain.path, .bytes)
    while let line = try whole.next() {
      if more > 0 {
        more -= line.length
      } else {
        guard let other = try rest.next(), line.isTerminated == other.isTerminated,
          line.whole.elementsEqual(other.whole)
        else { return false }
      }
    }
    return try more == 0 && rest.next() == nil
  }

  /// How many bytes its lines are.
  private var length: Int {
    get throws {
      var input = try RecordInput(path: path, .bytes)
      var length = 0
      while let line = try input.next() { length += line.length }
      return length
    }
  }
}

extension RecordInput.Line {
  /// Bytes with the LF.
  fileprivate var length: Int { whole.count + (isTerminated ? 1 : 0) }
}
