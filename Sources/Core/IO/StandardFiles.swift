import CLibc

enum StandardFiles {
  /// Opens those that the parent closed, before a socket or a file takes their
  /// number and receives what was meant for them. Standard input reads nothing,
  /// a write to standard output or error fails as it would have.
  static func ensure() {
    for descriptor: Int32 in 0...2 where isClosed(descriptor) {
      // The lowest free number is this one.
      _ = clibc_open("/dev/null", O_RDONLY)
    }
  }

  private static func isClosed(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) != 0 && systemError == EBADF
  }
}

/// Whether something can be read there now, or its end.
public func isReadable(_ descriptor: Int32) -> Bool {
  var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  return poll(&entry, 1, 0) > 0
}
