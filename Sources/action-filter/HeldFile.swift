import CLibc
import Core
import Records

/// A regular file that is held open: what takes its name, or removes it, does not change it.
final class HeldFile {
  /// Where it is opened again. Where the two are one open file, that begins anew, too.
  var path: String {
    lseek(descriptor, 0, SEEK_SET)
    return "/dev/fd/\(descriptor)"
  }
  private let descriptor: Int32

  /// Nil when it is no regular file, is empty, or cannot be opened.
  init?(_ path: String) {
    let file = clibc_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else { return nil }
    descriptor = file
    // Some systems show no open files under names. What an empty file means is told by its own.
    if FileIdentity(descriptor: file) == nil || size == 0 || stat(following: self.path) == nil {
      return nil
    }
  }

  deinit { close(descriptor) }

  private var size: Int { Int(FileVersion(descriptor)?.size ?? 0) }

  func ends(with plain: HeldFile) throws -> Bool {
    var more = try length - plain.size
    if more < 0 { return false }
    var whole = try RecordInput(path: path, .bytes)
    var rest = try RecordInput(path: plain.path, .bytes)
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

  /// How many bytes its lines are.
  private var length: Int {
    get throws {
      var input = try RecordInput(path: path, .bytes)
      var length = 0
      while let line = try input.next() { length += line.length }
      return length
    }
  }
}

extension RecordInput.Line {
  /// Bytes with the LF.
  fileprivate var length: Int { whole.count + (isTerminated ? 1 : 0) }
}
