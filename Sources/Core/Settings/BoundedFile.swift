import CLibc

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
    let place = name == "-" ? "standard input" : name
    guard let descriptor = name == "-" ? 0 : try open(name, waiting: patience == nil) else {
      throw Failure(code: systemError, place: place)
    }
    defer { if descriptor != 0 { close(descriptor) } }
    if let patience, stat(of: descriptor)?.isPipe == true {
      // Before somebody writes to it, a read would tell the end.
      try wait(for: descriptor, patience, place)
    }
    return try bytes(of: descriptor, at: place, limit: limit, patience: patience)
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
  ///
  /// - Returns: nil with errno where there is none.
  static func open(_ path: String, waiting: Bool = false) throws(Failure) -> Int32? {
    while true {
      let descriptor = clibc_open(path, O_RDONLY | O_NOCTTY | (waiting ? 0 : O_NONBLOCK))
      if descriptor >= 0 { return descriptor }
      let failure = Failure(code: systemError, place: path)
      if failure.isAbsence { return nil }
      if failure.code != EINTR { throw failure }
    }
  }

  private static func wait(
    for descriptor: Int32, _ patience: Double?, _ place: String?
  ) throws(Failure) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let most = patience.map { Int32($0 * 1000) } ?? -1
    if poll(&entry, 1, most) == 0 { throw Failure("nothing comes through the pipe", place: place) }
  }

  /// All bytes up to the end, waiting for them where the file is a pipe.
  static func bytes(
    of descriptor: Int32, at place: String? = nil, limit: Int, patience: Double? = nil
  ) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    let tooLarge = Failure("larger than \(limit) bytes", place: place)
    guard let status = stat(of: descriptor) else { throw Failure(code: systemError, place: place) }
    if status.isRegular {
      // What is too long is not read at all; the rest is in memory once.
      if Int(status.st_size) > limit { throw tooLarge }
      bytes.reserveCapacity(Int(status.st_size))
    }
    var piece = [UInt8](repeating: 0, count: 16 * 1024)
    while true {
      let count = read(descriptor, &piece, piece.count)
      if count < 0 {
        switch systemError {
        case EINTR: continue
        case EAGAIN: try wait(for: descriptor, patience, place)
        case let code: throw Failure(code: code, place: place)
        }
        continue
      }
      if count == 0 { return bytes }
      if count > limit - bytes.count { throw tooLarge }
      bytes += piece[..<count]
    }
  }

  /// Of a regular file; nil with errno where there is none.
  static func contents(of path: String, limit: Int) throws(Failure) -> (
    bytes: [UInt8], status: stat
  )? {
    guard let descriptor = try open(path) else { return nil }
    defer { close(descriptor) }
    guard let status = stat(of: descriptor), status.isRegular else {
      throw Failure(path, "not a regular file")
    }
    return (try bytes(of: descriptor, at: path, limit: limit), status)
  }
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
