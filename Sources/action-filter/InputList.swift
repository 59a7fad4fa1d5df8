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
