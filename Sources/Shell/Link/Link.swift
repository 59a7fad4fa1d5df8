import Core

/// A connection to a host that carries channels: the seam between what the
/// commands want and how it is brought there. Nothing of it blocks; one thread
/// drives it with one poll loop:
///
///     set.removeAll(); link.wants(&set); set.wait(seconds: ...); link.advance(set, now)
///
/// All times are seconds of `Clock.monotonic`, passed in.
public protocol Link: AnyObject {
  /// How far it is.
  var state: LinkState { get }

  /// What carries it, for messages: `libssh2` or `ssh`.
  var transport: TransportName { get }

  /// Adds the descriptors that it waits for, those of its channels too.
  func wants(_ set: inout PollSet)

  /// The time at which `advance` is to be called at the latest, nil when only a
  /// descriptor can bring it on. A time that has passed means at once.
  var deadline: Double? { get }

  /// Goes on as far as it can without blocking.
  func advance(_ set: PollSet, now: Double)

  /// Starts a command on a terminal of the host's. Only when `ready`.
  ///
  /// - Parameters:
  ///   - command: a command line for the remote user's shell.
  ///   - size: columns and rows.
  ///   - term: TERM of the terminal.
  func openTerminal(_ command: String, size: WindowSize, term: String) -> any Channel

  /// Starts a command without a terminal: its standard input, output and error
  /// are the channel's. Only when `ready`. Several may run side by side.
  func run(_ command: String) -> any Channel

  /// Ends everything at once, without waiting for the network. Channels that
  /// have not ended end with `closed`.
  func close()
}

/// How far a link is.
public enum LinkState: Equatable, Sendable {
  /// On the way: resolving, connecting, shaking hands, signing in.
  case opening
  /// Channels can be opened.
  case ready
  /// Over; its channels have ended for the same reason.
  case ended(Ending)
}

/// How the host is reached.
public enum TransportName: String, Sendable, CaseIterable {
  /// libssh2, in this process.
  case libssh2
  /// The user's own OpenSSH client.
  case ssh
  /// No network: this machine itself.
  case local
}
