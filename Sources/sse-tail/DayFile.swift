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
  /// - Returns: nil for one that is no day's, or is compressed.
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
