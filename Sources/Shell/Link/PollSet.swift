import CLibc
import Core

/// How whoever reaches for a host waits: until one of the descriptors is ready, or the time has come
/// (nil: there is none). Signals and keys that come meanwhile are seen to there; it throws when
/// nothing more is wanted of the host.
public typealias HostWait = (_ set: inout PollSet, _ until: Double?) throws(HostFailure) -> Void

/// The descriptors that one turn of a loop waits for, and what became of them.
public struct PollSet {
  private var entries: [pollfd] = []

  /// A set of what is to be read from; negative ones are left out.
  public init(_ descriptors: Int32...) {
    for descriptor in descriptors { add(descriptor) }
  }

  /// Forgets all descriptors, for the next turn.
  public mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

  /// Waits for a descriptor, too. One that is negative is left out.
  public mutating func add(_ descriptor: Int32, reading: Bool = true, writing: Bool = false) {
    guard descriptor >= 0, reading || writing else { return }
    let events = (reading ? POLLIN : 0) | (writing ? POLLOUT : 0)
    entries.append(pollfd(fd: descriptor, events: Int16(events), revents: 0))
  }

  /// Blocks until one of them is ready, a signal came, or the time is up.
  ///
  /// - Parameter seconds: nil waits for ever, 0 or less does not wait.
  public mutating func wait(seconds: Double?) {
    // Rounded up, so that a deadline has passed when the wait is over.
    let milliseconds = seconds.map { Int32(min(max(0, ($0 * 1000).rounded(.up)), 1e9)) } ?? -1
    if poll(&entries, nfds_t(entries.count), milliseconds) < 0 {
      for index in entries.indices { entries[index].revents = 0 }
    }
  }

  /// Blocks until one of them is ready, or a signal of `EndSignals` comes, which is thrown.
  public static func wait(_ set: inout PollSet, until: Double?) throws(HostFailure) {
    set.add(EndSignals.descriptor)
    set.wait(seconds: until.map { $0 - Clock.monotonic })
    if let signal = EndSignals.next() { throw .interrupted(signal: signal) }
  }

  /// Whether a read from a descriptor would not block: bytes, its end, or an error.
  public func isReadable(_ descriptor: Int32) -> Bool {
    has(descriptor, POLLIN | POLLHUP | POLLERR | POLLNVAL)
  }

  /// Whether a write to a descriptor would not block, or fail.
  public func isWritable(_ descriptor: Int32) -> Bool {
    has(descriptor, POLLOUT | POLLHUP | POLLERR | POLLNVAL)
  }

  private func has(_ descriptor: Int32, _ events: Int32) -> Bool {
    entries.contains { $0.fd == descriptor && Int32($0.revents) & events != 0 }
  }
}

/// One end of a pipe, a socket or a terminal that never blocks.
enum PipeEnd {
  /// Takes what is there, at most so much.
  static func read(
    _ descriptor: Int32, _ buffer: inout [UInt8], atMost limit: Int = .max
  ) -> Int {
    while true {
      let count = CLibc.read(descriptor, &buffer, min(limit, buffer.count))
      if count > 0 { return count }
      if count < 0 && systemError == EINTR { continue }
      return count < 0 && systemError == EAGAIN ? 0 : -1
    }
  }

  /// Gives as many bytes as go in now.
  static func write(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Int {
    bytes.withUnsafeBytes { CLibc.write(descriptor, $0.baseAddress, $0.count) }
  }
}
