import CLibc
import Core

final class DepositSource {
  let label: String
  let isInput: Bool
  let descriptor: Int32
  let status: stat
  /// What has its name: the file, or a symbolic link to it.
  private let named: stat?
  /// Bytes from here to the end; nil where nobody knows.
  let size: Int64?
  /// What it is called, for a name; empty for standard input.
  let stem: String
  let ending: String?
  /// Where it is read from: somebody may have read a part of standard input.
  private let start: off_t

  init(_ path: String, maxSize: Int64) throws(Failure) {
    isInput = path == "-"
    label = isInput ? "standard input" : path
    descriptor = isInput ? dup(0) : clibc_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
      let code = systemError
      close(descriptor)
      throw Failure(label, systemReason(code))
    }
    self.status = status
    named = isInput ? nil : Self.named(path)
    start = max(0, lseek(descriptor, 0, SEEK_CUR))
    size = status.isRegular ? max(0, Int64(status.st_size) - Int64(start)) : nil
    (stem, ending) = isInput ? ("", nil) : Self.parts(of: path)
    if let objection = Self.objection(status, size, isInput, maxSize: maxSize) {
      throw Failure(label, objection)
    }
  }

  deinit { close(descriptor) }

  func bytes(limit: Int64) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(descriptor, &piece, piece.count)
      if count == 0 { return bytes }
      if count < 0 {
        if systemError == EINTR { continue }
        guard systemError == EAGAIN else { throw Failure(label, systemReason(systemError)) }
        // A pipe whose writer is slow.
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&entry, 1, -1)
        continue
      }
      bytes += piece[..<count]
      if bytes.count > limit {
        throw Failure(label, OpenItem.tooLarge(maxSize: limit) + Self.hint)
      }
    }
  }

  /// Takes it from its old place, now that it has another: not what somebody has put there
  /// meanwhile, nor what was added to it.
  func remove() throws(Failure) {
    if isInput { return }
    var now = stat()
    guard fstat(descriptor, &now) == 0, FileVersion(now) == FileVersion(status),
      Self.isSame(named, Self.named(label)), Self.isSame(now, stat(following: label))
    else { throw Failure(label, "copied, but changed since: kept") }
    guard unlink(label) != 0 else { return }
    throw Failure(label, "copied, but cannot be removed: \(systemReason(systemError))")
  }

  private static func named(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
  }

  private static func isSame(_ one: stat?, _ other: stat?) -> Bool {
    guard let one, let other else { return false }
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino
  }

  var head: [UInt8] { Self.head(of: descriptor, start) }

  /// A device may have no end, and a FIFO nobody at the other one.
  private static func objection(
    _ status: stat, _ size: Int64?, _ isInput: Bool, maxSize: Int64
  ) -> String? {
    if let size {
      return size > maxSize ? OpenItem.tooLarge(size, maxSize: maxSize) + hint : nil
    }
    switch status.st_mode & mode_t(S_IFMT) {
    case mode_t(S_IFDIR): return systemReason(EISDIR)
    case _ where isInput: return nil
    case mode_t(S_IFIFO): return "a FIFO, not a regular file; - reads standard input"
    default: return "a device, not a regular file; - reads standard input"
    }
  }

  static let hint = "; --max-size allows more"

  private static func parts(of path: String) -> (stem: String, suffix: String?) {
    let name = path.utf8.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? []
    // .profile is a name without a suffix.
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0,
      ItemName.isSuffix(Array(name[(dot + 1)...]))
    else { return (ItemName.stem(of: name), nil) }
    let suffix = String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
    return (ItemName.stem(of: name[..<dot]), suffix)
  }

  static func head(of file: Int32, _ start: off_t) -> [UInt8] {
    var head = [UInt8](repeating: 0, count: FileKind.window)
    let count = pread(file, &head, head.count, start)
    return Array(head.prefix(max(0, count)))
  }
}
