import CLibc
public import Core

extension ByteQueue {
  /// Writes up to so many bytes, as many as go without waiting: a reader that stands still must not
  /// keep us from the server's questions.
  ///
  /// - Parameters:
  ///   - descriptor: standard output, or a file.
  ///   - isFile: whether it is a regular file, which always takes all.
  /// - Returns: how many were written.
  public mutating func write(
    to descriptor: Int32, isFile: Bool, atMost limit: Int
  ) throws(WriteFailure) -> Int {
    // What a pipe takes when it says that it takes anything.
    let piece = isFile ? limit : 4096
    var written = 0
    while written < limit, isFile || OutputEnd.isWritable {
      let sent = CLibc.write(descriptor, bytes.baseAddress, min(limit - written, piece))
      if sent < 0 {
        if systemError == EINTR { continue }
        if systemError == EAGAIN { break }
        throw WriteFailure(code: systemError)
      }
      drop(sent)
      written += sent
    }
    return written
  }
}
