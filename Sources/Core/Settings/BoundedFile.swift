public import CLibc

/// A file's bytes, never more than the caller can bear.
public enum BoundedFile {
  /// The most of a file that a command may keep whole in memory, bytes.
  public static let largest = 64 << 20

  /// The bytes of a file that the command line names; `-` is standard input, and a
  /// pipe is read to its end.
  ///
  /// - Parameters:
  ///   - limit: the most, bytes; a file that is larger is not read.
  ///   - patience: how long a pipe may bring nothing, seconds; nil for ever.
  /// - Throws: `Failure` when it cannot be read or is larger than the limit.
  public static func given(
    _ name: String, limit: Int = largest, patience: Double? = nil
  ) throws(Failure) -> [UInt8] {
    do throws(Failure) {
      let descriptor = name == "-" ? 0 : try open(name, waiting: patience == nil)
      defer { if descriptor != 0 { close(descriptor) } }
      if let patience, try status(of: descriptor).isPipe {
        // Before somebody writes to it, a read would tell the end.
        try wait(for: descriptor, patience)
      }
      return try bytes(of: descriptor, limit: limit, patience: patience)
    } catch {
      throw Failure(name == "-" ? "standard input" : name, error.reason)
    }
  }

  /// The same of a text: without a byte order mark.
  ///
  /// - Throws: as above, and when it is no UTF-8 by its first bytes.
  public static func text(
    _ name: String, limit: Int = largest
  ) throws(Failure) -> [UInt8] {
    try ForeignText.text(
      try given(name, limit: limit), of: name == "-" ? "standard input" : name)
  }

  /// Opens a file for reading without ever waiting for the other end of a FIFO.
  static func open(_ path: String, waiting: Bool = false) throws(Failure) -> Int32 {
    while true {
      let descriptor = clibc_open(path, O_RDONLY | O_NOCTTY | (waiting ? 0 : O_NONBLOCK))
      if descriptor >= 0 { return descriptor }
      if systemError != EINTR { throw Failure(code: systemError) }
    }
  }

  static func status(of descriptor: Int32) throws(Failure) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Failure(code: systemError) }
    return status
  }

  private static func wait(for descriptor: Int32, _ patience: Double?) throws(Failure) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let most = patience.map { Int32($0 * 1000) } ?? -1
    if poll(&entry, 1, most) == 0 { throw Failure("nothing comes through the pipe") }
  }

  /// All bytes up to the end, waiting for them where the file is a pipe.
  static func bytes(
    of descriptor: Int32, limit: Int, patience: Double? = nil
  ) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    let status = try status(of: descriptor)
    if status.isRegular {
      // What is too long is not read at all; the rest is in memory once.
      if Int(status.st_size) > limit { throw Failure("larger than \(limit) bytes") }
      bytes.reserveCapacity(Int(status.st_size))
    }
    var piece = [UInt8](repeating: 0, count: 16 * 1024)
    while true {
      let count = read(descriptor, &piece, piece.count)
      if count < 0 {
        if systemError == EINTR { continue }
        if systemError == EAGAIN {
          try wait(for: descriptor, patience)
          continue
        }
        throw Failure(code: systemError)
      }
      if count == 0 { return bytes }
      if count > limit - bytes.count { throw Failure("larger than \(limit) bytes") }
      bytes += piece[..<count]
    }
  }

  static func contents(of path: String, limit: Int) throws(Failure) -> (
    bytes: [UInt8], status: stat
  ) {
    let descriptor = try open(path)
    defer { close(descriptor) }
    let status = try status(of: descriptor)
    guard status.isRegular else { throw Failure("not a regular file") }
    return (try bytes(of: descriptor, limit: limit), status)
  }
}

extension stat {
  /// Whether this is a regular file.
  public var isRegular: Bool { st_mode & mode_t(S_IFMT) == mode_t(S_IFREG) }
  /// Whether this is a pipe, with a name or without.
  public var isPipe: Bool { st_mode & mode_t(S_IFMT) == mode_t(S_IFIFO) }
  /// Whether this is a folder.
  public var isFolder: Bool { st_mode & mode_t(S_IFMT) == mode_t(S_IFDIR) }
}

extension ForeignText {
  /// The bytes of a text without the byte order mark that some editors put in front.
  ///
  /// - Throws: `Failure` when it is no UTF-8 by its first bytes.
  public static func text(_ bytes: [UInt8], of name: String) throws(Failure) -> [UInt8] {
    if let reason = reason(of: bytes) { throw Failure(name, reason) }
    return bytes.starts(with: [0xef, 0xbb, 0xbf]) ? Array(bytes[3...]) : bytes
  }
}
