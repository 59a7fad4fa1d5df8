import CLibc
import Core

/// Copies one open file to another: in the kernel where that can be done.
struct FileCopier {
  enum Side { case source, target }

  let source: Int32
  let target: Int32
  /// The most bytes that may be copied.
  let limit: Int64
  private(set) var count: Int64 = 0

  private static let piece = 1 << 20
  /// Bytes that the kernel copies before anybody is told.
  private static let stretch: Int64 = 1 << 25

  init(from source: Int32, to target: Int32, limit: Int64) {
    (self.source, self.target, self.limit) = (source, target, limit)
  }

  /// Copies to the end of the source. Returns nil when done, else the side that failed and the
  /// error number: EFBIG for a source that does not end within the limit, EINTR for a signal that
  /// is watched for.
  mutating func run(_ progress: (Int64) -> Void) -> (Side, Int32)? {
    while true {
      if count > limit { return (.source, EFBIG) }
      if EndSignals.hasPending { return (.source, EINTR) }
      let copied = clibc_copy_range(source, target, Int(min(Self.stretch, room)))
      // Some file systems say 0 for a file whose size they do not know: let read
      // find the end.
      if copied == 0 { break }
      if copied < 0 {
        let code = systemError
        if code == EINTR { continue }
        if [EINVAL, ENOSYS, EXDEV, EOPNOTSUPP, EBADF, EPERM].contains(code) { break }
        return (.target, code)
      }
      count += Int64(copied)
      progress(count)
    }
    return copyByHand(progress)
  }

  /// One byte more than the limit allows tells that there are more.
  private var room: Int64 { limit - count + (limit < .max ? 1 : 0) }

  private mutating func copyByHand(_ progress: (Int64) -> Void) -> (Side, Int32)? {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.piece, alignment: 4096)
    defer { buffer.deallocate() }
    while true {
      if count > limit { return (.source, EFBIG) }
      // A pipe whose writer is slow.
      if !isReady(source, POLLIN) { return (.source, EINTR) }
      let got = read(source, buffer.baseAddress, Int(min(Int64(buffer.count), room)))
      if got < 0 {
        if systemError == EINTR || systemError == EAGAIN { continue }
        return (.source, systemError)
      }
      if got == 0 { return nil }
      var rest = UnsafeRawBufferPointer(rebasing: buffer[..<got])
      while !rest.isEmpty {
        let put = write(target, rest.baseAddress, rest.count)
        if put < 0 {
          if systemError == EINTR { continue }
          return (.target, systemError)
        }
        count += Int64(put)
        rest = UnsafeRawBufferPointer(rebasing: rest[put...])
      }
      progress(count)
    }
  }
}
