import CLibc
public import Core

/// The files of records in a folder: those of days in their order, then others by name.
public struct ArchiveFolder {
  /// What the file of an index is called, with a line for each file.
  public static let index = ".index"
  private static let largestIndex = 64 << 20

  /// A file in the folder.
  public struct File: Comparable {
    /// In the folder.
    public let name: String
    let day: DayFile?
    var isPlain: Bool { name.hasSuffix(".ndjson") }

    /// Days come first. What is compressed is older than what is not.
    public static func < (a: File, b: File) -> Bool {
      switch (a.day, b.day) {
      case (let one?, let other?) where one != other: one < other
      case (_?, _?): a.name.utf8.count > b.name.utf8.count
      case (_?, nil): true
      case (nil, _?): false
      case (nil, nil): a.name < b.name
      }
    }

    init?(name: String) {
      guard !name.hasPrefix("."),
        [".ndjson", ".ndjson.zst", ".ndjson.gz"].contains(where: { name.hasSuffix($0) })
      else { return nil }
      self.name = name
      day = DayFile(name: name) ?? DayFile(compressedName: name)
    }
  }

  private let path: String

  /// Whether a file of this name is one of an archive.
  public static func holds(_ name: String) -> Bool { File(name: name) != nil }

  public init(_ path: String) { self.path = path }

  /// The regular files that may hold actions of a time, and those that cannot be looked at.
  ///
  /// A plain file that is still written may hold what was told however late: it has no index
  /// that says so.
  ///
  /// - Parameter now: the file of this day is still written.
  /// - Throws: `Failure` when the folder cannot be read.
  public func files(in window: DayWindow, now: Timestamp) throws(Failure) -> [File] {
    let names = try Failure.rethrowing(
      try FolderFile.names(in: path), as: { Failure($0.reason) })
    let known = window.isOpen ? [:] : times()
    let today = now.rfc3339.prefix(10)
    return names.compactMap(File.init(name:)).filter { file in
      let path = Folders.join(path, file.name)
      if let status = stat(following: path) {
        if !status.isRegular { return false }
        if let entry = known[Array(file.name.utf8)], entry.size == Int(status.st_size) {
          return window.mayHold(oldest: entry.oldest, newest: entry.newest)
        }
      } else if stat(at: path) == nil, systemError == ENOENT {
        return false
      }
      guard let day = file.day else { return true }
      return file.isPlain && day.name.prefix(10) >= today || window.mayHold(day)
    }.sorted()
  }

  /// What the folder's index says of its files; nothing of lines that it does not have.
  private func times() -> [[UInt8]: (size: Int, oldest: Timestamp?, newest: Timestamp?)] {
    let name = Folders.join(path, Self.index)
    guard let status = stat(following: name), status.isRegular,
      let bytes = try? BoundedFile.given(name, limit: Self.largestIndex)
    else { return [:] }
    // Two names may be the same text, and are two files.
    var known: [[UInt8]: (size: Int, oldest: Timestamp?, newest: Timestamp?)] = [:]
    bytes.withUnsafeBytes { bytes in
      for line in bytes.split(separator: 10) {
        let line = UnsafeRawBufferPointer(rebasing: line)
        let fields = ScanFields<IndexMember>(line)
        let (oldest, newest) = (fields[.oldest], fields[.newest])
        // It must be trusted to say when the actions were.
        guard oldest.isTime, newest.isTime, (oldest.time == nil) == (newest.time == nil) else {
          continue
        }
        let size = fields[.size].wholeNumber ?? -1
        known[Array((fields[.name].string ?? "").utf8)] = (size, oldest.time, newest.time)
      }
    }
    return known
  }
}

private enum IndexMember: Int, ScanName {
  case name, size, oldest, newest
  static let table = NameTable<IndexMember>()
}

extension ScanValue {
  /// RFC 3339.
  fileprivate var time: Timestamp? {
    isString ? rawText.flatMap { Timestamp(rfc3339: $0) } : nil
  }

  fileprivate var isTime: Bool { time != nil || !isAbsent && isNull }
}
