import CLibc
import Core

/// A remote command without a terminal, over the connection of another process.
final class MuxChannel: PipeChannel {
  private(set) var connection: MuxConnection?
  private let cut: (_ silence: Double) -> Ending

  private init(
    _ ends: [Int32], _ connection: MuxConnection, _ cut: @escaping (_ silence: Double) -> Ending
  ) {
    self.connection = connection
    self.cut = cut
    super.init(ends)
  }

  /// Asks for a command, and waits until the host runs it, or there is no answer in time: see the
  /// phase of its connection. Nil when nobody takes calls at this path.
  ///
  /// - Parameters:
  ///   - contact: a connection to the process at this path, of which nothing was asked yet.
  ///   - patience: seconds in which the host must answer.
  ///   - cut: what it means that the connection ends without a status, so many seconds after the
  ///     command was heard.
  static func start(
    _ command: String, _ path: String, over contact: MuxConnection? = nil, patience: Double,
    _ wait: HostWait, cut: @escaping (_ silence: Double) -> Ending
  ) throws(HostFailure) -> MuxChannel? {
    let pipes = try StandardPipes()
    contact?.update()
    let connection: MuxConnection
    if let contact, contact.phase == .asked {
      contact.ask(command, pipes.theirs)
      connection = contact
    } else if let fresh = MuxConnection(path, command, pipes.theirs) {
      connection = fresh
    } else {
      pipes.closeOurs()
      pipes.closeTheirs()
      return nil
    }
    let channel = MuxChannel(pipes.ours, connection, cut)
    try connection.wait(atMost: patience, wait) { connection.hasOpened }
    return channel
  }

  override func wants(_ set: inout PollSet) {
    super.wants(&set)
    connection?.wants(&set)
  }

  override func found() -> Ending? {
    connection?.update()
    guard isRead, let connection else { return nil }
    switch connection.phase {
    case .exited(let status): return .remoteExit(status: status)
    case .gone: return cut(Clock.monotonic - heard)
    default: return nil
    }
  }

  override func letGo() {
    connection?.close()
    connection = nil
  }
}
