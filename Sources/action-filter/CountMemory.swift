import CLibc
import Core
import Records

/// What was counted of transcripts the last time: a folder in which nothing has changed since then
/// is not read again.
struct CountMemory {
  /// What came of it.
  struct Counts {
    var records: [UInt8] = []
    var times: [UInt8] = []
    var notes: [String] = []
    var hasSome = false
  }

  private let file: StateFile
  private let folder: String
  private let state: String

  private static let sizeLimit = 64 << 20
  /// Those of what is not asked any more are removed after so many seconds.
  private static let age: Int64 = 7 * 86_400

  /// Nil where there is nothing to remember: anything else than transcripts is read, or it is not
  /// counts that are wanted.
  init?(_ options: FilterOptions, _ entries: [InputList.Entry]) {
    guard options.predicate.isUsage, options.output == .groups, options.rejects == nil,
      !options.hasNames, !entries.isEmpty, let here = currentFolder()
    else { return nil }
    var question = suiteVersion + "\n" + here + "\n" + (Process.environment("TZ") ?? "")
    var words = Process.arguments[...]
    while let word = words.popFirst() {
      // Where it is written to does not change it, and times are among the facts: who asks each
      // minute for the last hour asks the same.
      if ["--times", "-S", "-B"].contains(word) {
        _ = words.popFirst()
      } else {
        question += "\0" + word
      }
    }
    let folders = Folders()
    let prices = options.prices ?? (try? Settings())?.prices
    var facts = ""
    for path in [prices ?? SharedFile.path("share/agentutils/prices") ?? "", "/etc/localtime"] {
      facts += Self.facts(path)
    }
    for time in [options.predicate.indexed.since, options.predicate.indexed.before] {
      facts += time.map { "\($0.seconds).\($0.nanoseconds)\n" } ?? "\n"
    }
    for entry in entries {
      guard case .file(let path) = entry, path.hasSuffix(TranscriptInput.ending) else { return nil }
      facts += Self.facts(path)
    }
    folder = Folders.join(folders.cache, "counts")
    file = StateFile(path: Folders.join(folder, Self.digest(question)))
    state = Self.digest(facts)
  }

  private static func facts(_ path: String) -> String {
    guard let status = stat(following: path) else { return path + "\n" }
    let version = FileVersion(status)
    return "\(path) \(status.st_dev) \(status.st_ino) \(version.size) \(version.modified)\n"
  }

  private static func digest(_ text: String) -> String {
    var text = text
    let key = text.withUTF8 { ActionKey(text: UnsafeRawBufferPointer($0)) }
    return String(key.high, radix: 16) + "-" + String(key.low, radix: 16)
  }

  /// The lock of whoever counts. Nobody is waited for where there are older counts.
  ///
  /// - Returns: nil while another run has it.
  func lock() throws(Failure) -> LockFile? {
    try Folders.make(folder)
    return try LockFile(file.path + ".lock", patience: recall(isExact: false) == nil ? 2 : 0)
  }

  /// What was counted when all was as it is now, or else at any time.
  func recall(isExact: Bool = true) -> Counts? {
    guard stat(following: file.path) != nil, let bytes = try? file.read(limit: Self.sizeLimit),
      let end = bytes.firstIndex(of: 10)
    else { return nil }
    let words = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ")
    guard words.count == 5, !isExact || words[0] == state, let records = Int(words[2]),
      let times = Int(words[3]), let notes = Int(words[4]),
      records >= 0, times >= 0, notes >= 0, records + times + notes == bytes.count - end - 1
    else { return nil }
    // It is asked for still.
    _ = utimensat(AT_FDCWD, file.path, nil, 0)
    let body = bytes[(end + 1)...]
    let told = String(decoding: body.suffix(notes), as: UTF8.self)
    return Counts(
      records: Array(body.prefix(records)), times: Array(body.dropFirst(records).prefix(times)),
      notes: told.split(separator: "\n").map(String.init), hasSome: words[1] == "1")
  }

  /// Remembers what was counted. Where that does not work, it is counted again the next time.
  func keep(_ counts: Counts) {
    let notes = counts.notes.joined(separator: "\n")
    let head =
      "\(state) \(counts.hasSome ? 1 : 0) \(counts.records.count) \(counts.times.count) "
      + "\(notes.utf8.count)\n"
    guard (try? Folders.make(folder)) != nil else { return }
    try? file.replace(with: Array(head.utf8) + counts.records + counts.times + Array(notes.utf8))
    let now = Timestamp.now().seconds
    for name in (try? FolderFile.names(in: folder)) ?? [] {
      let path = Folders.join(folder, name)
      if let status = stat(following: path), status.isRegular,
        FileVersion(status).modified / 1_000_000_000 < now - Self.age
      {
        unlink(path)
      }
    }
  }
}
