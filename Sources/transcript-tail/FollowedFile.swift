import Core
import Turns

final class FollowedFile {
  /// As it was seen last; whatever file has the name now, its number is that of the one that is read.
  var seen: SeenFile
  var path: String { seen.path }
  let key: FileKey
  let session: String
  var cutter: LineCutter
  var line: LineMark?
  var isSkipped = false
  /// The line at which a file was left whose name another took.
  var claim: (line: LineMark, loss: FollowPlan.Loss, mark: FileMark)?
  var isForeign = false
  /// The first id of its lines; looked for where it is read from its beginning.
  var first: String?
  let isWhole: Bool
  /// What says who made this subagent, until it was printed, and how often that is still looked for.
  var origin: [UInt8]?
  var asks: Int
  /// Up to where only an earlier run has read it, bytes.
  var unseen: Int64 = 0

  init(_ file: SeenFile, offset: Int64, limit: Int) {
    seen = file
    key = FileKey(file.path)
    session = ClaudeTranscripts.session(of: file.path)
    isWhole = offset == 0
    asks = ClaudeTranscripts.isOfSubagent(file.path) ? 2 : 0
    cutter = LineCutter(offset: offset, limit: limit)
  }

  /// One that goes on at a mark, whatever file has the name now: see `loss`.
  convenience init(_ file: SeenFile, from mark: FileMark, limit: Int) {
    var then = file
    then.number = mark.number
    if mark.born != 0 { then.born = mark.born }
    self.init(then, offset: mark.offset, limit: limit)
    (line, isSkipped, first) = (mark.line, mark.isSkipped, mark.first)
    unseen = mark.isSkipped ? 0 : mark.offset
  }

  var isBehind: Bool { !isForeign && cutter.isBehind(seen.size) }

  var mark: FileMark {
    if let claim { return claim.mark }
    return FileMark(
      path: path, number: seen.number, born: seen.born, offset: cutter.offset, line: line,
      isSkipped: isSkipped, first: first)
  }

  /// What is wrong when the name stands for this file now; nil when it only grew.
  func loss(_ now: SeenFile) -> FollowPlan.Loss? {
    let isSame =
      now.number == seen.number && (seen.born == 0 || now.born == 0 || now.born == seen.born)
    let reason = !isSame ? "replaced" : now.size < cutter.reached ? "truncated" : nil
    return reason.map { .init(path: path, reason: $0, offset: cutter.offset) }
  }
}

struct SeenFile: Equatable {
  var path: String
  /// Of the file system: tells whether another file has taken the name.
  var number: UInt64
  /// Nanoseconds since 1970, for a number may be given again; 0 if not told.
  var born: Int64 = 0
  /// Bytes.
  var size: Int64
  /// When it was written to last, nanoseconds since 1970.
  var modified: Int64
}

struct FileMark: Equatable {
  var path: String
  var number: UInt64
  var born: Int64 = 0
  /// Lines that begin before it were printed, or are not wanted.
  var offset: Int64
  var line: LineMark?
  var isSkipped = false
  var first: String?
}

/// A line that was read, to be known again: a file that is synchronised is replaced by another
/// one with the same lines.
struct LineMark: Equatable {
  /// Where it begins, bytes.
  var begin: Int64
  var digest: UInt64
}

extension LineMark {
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
