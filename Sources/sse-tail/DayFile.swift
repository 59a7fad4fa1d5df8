import CLibc
import Core

/// The day that a file of an archive is for, which is its name:
/// `2026-11-21.ndjson`. Days are those of UTC.
struct DayFile: Comparable {
  /// In the archive's folder.
  let name: String

  private static let ending = ".ndjson"

  /// The file for what is received at a time.
  init(_ time: Timestamp) { name = String(time.rfc3339.prefix(10)) + Self.ending }

  /// - Parameter name: of a file.
  /// - Returns: nil for any other file, and a compressed one.
  init?(name: String) {
    guard name.hasSuffix(Self.ending), name.utf8.count == 10 + Self.ending.utf8.count,
      Timestamp(rfc3339: name.prefix(10) + "T00:00:00Z") != nil
    else { return nil }
    self.name = name
  }

  /// The file that was compressed under this name; nil for any other.
  init?(compressedName name: String) {
    for ending in [".zst", ".gz"] where name.hasSuffix(ending) {
      self.init(name: String(name.dropLast(ending.count)))
      return
    }
    return nil
  }

  static func < (a: DayFile, b: DayFile) -> Bool { a.name < b.name }
}

/// The end of a day file as a crash may have left it.
enum ArchiveTail {
  /// What is found there.
  struct Finding: Equatable {
    /// How many bytes are whole records; what follows was cut by a crash.
    var size: Int
    /// The id of the last event that has one; nil when none does.
    var lastEventID: String?
  }

  /// Looks at a file from its end.
  ///
  /// - Parameter bytes: the whole of it; only what is needed is read.
  static func read(_ bytes: UnsafeRawBufferPointer) -> Finding {
    var finding = Finding(size: bytes.count)
    // Half a line, and what the disk had not yet got when the power went: zeros.
    while let line = lastLine(bytes, to: finding.size) {
      if line.isWhole && !holdsZero(line.bytes) { break }
      finding.size = line.start
    }
    var end = finding.size
    while let line = lastLine(bytes, to: end) {
      if let id = eventID(line.bytes), !id.isEmpty {
        finding.lastEventID = id
        break
      }
      end = line.start
    }
    return finding
  }

  private static func lastLine(
    _ bytes: UnsafeRawBufferPointer, to end: Int
  ) -> (bytes: UnsafeRawBufferPointer, start: Int, isWhole: Bool)? {
    guard end > 0, let base = bytes.baseAddress else { return nil }
    let isWhole = bytes[end - 1] == 10
    let stop = isWhole ? end - 1 : end
    let start = clibc_memrchr(base, 10, stop).map { $0 - base + 1 } ?? 0
    return (UnsafeRawBufferPointer(rebasing: bytes[start..<stop]), start, isWhole)
  }

  private static func holdsZero(_ line: UnsafeRawBufferPointer) -> Bool {
    line.baseAddress.map { memchr($0, 0, line.count) != nil } ?? false
  }

  private static func eventID(_ line: UnsafeRawBufferPointer) -> String? {
    guard let id = try? ScanMembers.value(of: "id", in: line), id.isString,
      let event = try? ScanMembers.value(of: "event", in: line), event.isString
    else { return nil }
    return id.string
  }
}
