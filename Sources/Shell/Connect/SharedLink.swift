import CLibc
import Core

/// A connection that another process of the user has: commands go to its control
/// socket. Where that process does not answer, or takes no more commands, a connection
/// of our own is made.
final class SharedLink: Link {
  private let request: LinkRequest
  private let path: String
  /// Asks whether the other process answers; the first command then goes over it.
  private var contact: MuxConnection?
  private var own: SSH2Link?

  /// Seconds: one that is stopped never answers.
  private static let patience = 0.3

  /// Nil when nobody serves what is asked for.
  init?(_ request: LinkRequest) {
    guard !request.isForTerminal, !request.isFresh,
      let place = try? ControlPlace(shared: request), let contact = MuxConnection(place.socket)
    else { return nil }
    clibc_signal_ignore(SIGPIPE)
    self.request = request
    self.contact = contact
    path = place.socket
  }

  let transport = TransportName.libssh2
  var ending: HostFailure? { own?.ending }
  var deadline: Double? { own?.deadline }
  func wants(_ set: inout PollSet) { own?.wants(&set) }
  func advance(_ set: PollSet, now: Double) { own?.advance(set, now: now) }
  func close() { own?.close() }

  /// Whether the other process answers.
  func isAnswered(_ wait: HostWait) throws(HostFailure) -> Bool {
    guard let contact else { return false }
    try contact.wait(atMost: Self.patience, wait) { contact.master != nil }
    switch contact.phase {
    case .refused(let why): noteOwn(why)
    case .gone: noteOwn("it has gone")
    case _ where contact.master == nil: noteOwn("it does not answer")
    default:
      let process = contact.master.map { "\($0)" } ?? ""
      request.note(
        "\(request.destination.name): by libssh2: shares the connection of process \(process)")
      return true
    }
    return false
  }

  func run(_ command: String, _ wait: @escaping HostWait) throws(HostFailure) -> any Channel {
    if let own { return own.start(command) }
    guard command.utf8.count <= SSH2Link.longestCommand else { throw .tooLong }
    let patience = request.options.keepalive * 3 + 1
    let contact = contact
    self.contact = nil
    let channel = try MuxChannel.start(
      command, path, over: contact, patience: patience, wait,
      cut: { _ in .failed(.linkLost(why: "the shared connection is gone")) })
    if let channel, let connection = channel.connection {
      if connection.hasOpened { return channel }
      switch connection.phase {
      case .refused: noteOwn("it does not take the command")
      case .gone: throw .linkLost(why: "the process that had it is gone")
      // It may have reached the host all the same: nobody does it twice.
      default: throw .silent(seconds: patience)
      }
    } else {
      noteOwn("it has gone")
    }
    let own = try SSH2Link(request, wait)
    self.own = own
    return own.start(command)
  }

  private func noteOwn(_ why: String) {
    request.note("\(request.destination.name): shares no connection: \(why)")
  }
}
