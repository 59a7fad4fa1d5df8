import Core

/// A file as it was found.
struct SeenFile: Equatable {
  /// As it can be opened.
  var path: String
  /// Of the file system: tells whether another file has taken the name.
  var number: UInt64
  /// When it was made, nanoseconds since 1970, for a number may be given again; 0 where the
  /// system does not tell.
  var born: Int64 = 0
  /// Bytes.
  var size: Int64
  /// When it was written to last; any unit.
  var modified: Int64
}

/// How far a file was read.
struct FileMark: Equatable {
  var path: String
  var number: UInt64
  /// As in `SeenFile`.
  var born: Int64 = 0
  /// Lines that begin before it were printed, or are not wanted.
  var offset: Int64
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
