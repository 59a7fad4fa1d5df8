import CLibc

/// The other end of standard output.
public enum OutputEnd {
  /// Whether the reader of a pipe or socket has gone away (systems differ in how they
  /// say so), or the terminal has. For a command that may write nothing for hours, and
  /// would meet EPIPE only then.
  public static var isClosed: Bool {
    var entry = pollfd(fd: 1, events: 0, revents: 0)
    return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
  }

  /// Whether a write would not wait.
  public static var isWritable: Bool {
    var entry = pollfd(fd: 1, events: Int16(POLLOUT), revents: 0)
    return poll(&entry, 1, 0) > 0
  }
}
