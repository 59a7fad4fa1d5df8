import CLibc
import Core

/// The reading end of a pipe, a socket or a terminal that never blocks.
enum PipeEnd {
  /// Takes what is there.
  ///
  /// - Returns: 0 when there is nothing now, -1 at the end, which a fault is, too.
  static func take(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    while true {
      let count = read(descriptor, buffer.baseAddress, buffer.count)
      if count > 0 { return count }
      if count < 0 && systemError == EINTR { continue }
      return count < 0 && systemError == EAGAIN ? 0 : -1
    }
  }
}
