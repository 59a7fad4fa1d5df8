import Archive
import CLibc
import Core
import Records

/// What is read, in its order: the files that were named, and those in folders that were.
enum InputList {
  /// A file, or why there is none.
  enum Entry {
    case file(path: String)
    /// A file of a folder, which may be gone under this name when it is its turn.
    case member(path: String)
    /// A file of a folder beside compressed ones of the same name, which are read before it.
    case rest(path: String, packed: [String])
    case fault(path: String, reason: String)

    /// What is to be opened.
    var path: String? {
      switch self {
      case .file(let path), .rest(let path, _): path
      case .member(let path): Self.present(path)
      case .fault: nil
      }
    }

    /// Whether all of it was in a compressed file that was read: an archiver has not removed
    /// it yet, or did so meanwhile.
    ///
    /// - Parameter opened: the file that was read last, as it was opened.
    func wasRead(before opened: (path: String, identity: FileIdentity?)) -> Bool {
      guard case .rest(let path, let packed) = self else { return false }
      guard let status = stat(following: path) else {
        return packed.contains(opened.path) && opened.identity != nil
          && FileIdentity(path: opened.path) == opened.identity
      }
      return packed.contains {
        (try? InputList.ends($0, with: path, Int(status.st_size))) == true
      }
    }

    /// An archiver may have compressed the file since.
    private static func present(_ path: String) -> String {
      if stat(following: path) != nil { return path }
      return [".zst", ".gz"].map { path + $0 }.first { stat(following: $0) != nil } ?? path
    }
  }

  /// - Parameter options: what is selected from which files.
  static func entries(_ options: FilterOptions) -> [Entry] {
    // What has no time would be missed.
    let readsAll = options.isInverted || options.passesOthers
    let window = DayWindow(
      since: readsAll ? nil : options.predicate.since,
      before: readsAll ? nil : options.predicate.before)
    var entries: [Entry] = []
    for path in options.files {
      guard path != "-", let status = stat(following: path), status.isFolder else {
        entries.append(.file(path: path))
        continue
      }
      do throws(ReadFailure) {
        let names = try ArchiveFolder(path).files(in: window, now: .now()).map(\.name)
        // Two names may be the same text, and are two files.
        let all = Set(names.map { Array($0.utf8) })
        for name in names {
          let path = Folders.join(path, name)
          let ends = [".zst", ".gz"].filter { all.contains(Array((name + $0).utf8)) }
          let packed = ends.map { path + $0 }
          entries.append(packed.isEmpty ? .member(path: path) : .rest(path: path, packed: packed))
        }
      } catch {
        entries.append(.fault(path: path, reason: error.reason))
      }
    }
    return entries
  }

  /// Whether a file ends with all lines of another one, of so many bytes.
  ///
  /// - Throws: `ReadFailure` when one of them cannot be read.
  private static func ends(_ packed: String, with plain: String, _ size: Int) throws -> Bool {
    var more = try length(packed) - size
    if more < 0 { return false }
    var whole = try RecordInput(path: packed)
    var rest = try RecordInput(path: plain)
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

  /// How many bytes the lines of a file are.
  private static func length(_ path: String) throws -> Int {
    var input = try RecordInput(path: path)
    var length = 0
    while let line = try input.next() { length += line.length }
    return length
  }
}

extension RecordInput.Line {
  /// Bytes with the LF.
  fileprivate var length: Int { whole.count + (isTerminated ? 1 : 0) }
}
