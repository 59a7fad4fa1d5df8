import CLibc

enum StandardFiles {
  /// Opens those that the parent closed, before a socket or a file takes their
  /// number and receives what was meant for them. Standard input reads nothing,
  /// a write to standard output or error fails as it would have.
  static func ensure() {
    for descriptor: Int32 in 0...2 where stat(of: descriptor) == nil && systemError == EBADF {
      // The lowest free number is this one.
      _ = clibc_open("/dev/null", O_RDONLY)
    }
  }
}

/// Whether something can be read there, or its end.
///
/// - Parameter milliseconds: how long to wait for that; below 0 for ever.
@discardableResult
public func isReadable(_ descriptor: Int32, within milliseconds: Int32 = 0) -> Bool {
  hasEvent(POLLIN, descriptor, milliseconds)
}

/// Whether a write there would not wait.
///
/// - Parameter milliseconds: how long to wait for that; below 0 for ever.
@discardableResult
public func isWritable(_ descriptor: Int32, within milliseconds: Int32 = 0) -> Bool {
  hasEvent(POLLOUT, descriptor, milliseconds)
}

private func hasEvent(_ event: Int32, _ descriptor: Int32, _ milliseconds: Int32) -> Bool {
  var entry = pollfd(fd: descriptor, events: Int16(event), revents: 0)
  return poll(&entry, 1, milliseconds) > 0
}
