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
  /// The last line before it; nil when none was read.
  var line: LineMark?
  /// Whether nothing of it was wanted so far.
  var isSkipped = false
  /// The first id of its lines; nil when none was read.
  var first: String?
}

/// A line that was read, to be known again: a file that is synchronised is replaced by another
/// one with the same lines.
struct LineMark: Equatable {
  /// Where it begins, bytes.
  var begin: Int64
  var digest: UInt64

  init(begin: Int64, digest: UInt64) { (self.begin, self.digest) = (begin, digest) }

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
