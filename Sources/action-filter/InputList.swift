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
    case fault(path: String, reason: String)

    /// What is to be opened.
    var path: String? {
      switch self {
      case .file(let path): path
      case .member(let path): Self.present(path)
      case .fault: nil
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
        let names = try ArchiveFolder(path).files(in: window).map(\.name)
        for name in names {
          let isPacked = [".zst", ".gz"].contains { names.contains(name + $0) }
          let path = Folders.join(path, name)
          entries.append(isPacked ? .file(path: path) : .member(path: path))
        }
      } catch {
        entries.append(.fault(path: path, reason: error.reason))
      }
    }
    return entries
  }
}
