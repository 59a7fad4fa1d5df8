public import Core

// What is in which folder of this module; each knows only those above it:
//
//     Link      what a connection and its channels are, and how they fail
//     Target    the host that is meant, and how it is to be reached
//     Keys      the keys of hosts and our own
//     LibSSH2   connections by libssh2, in this process
//     OpenSSH   connections by the user's ssh (nothing of LibSSH2)
//     Connect   which of the two it is, and connections that several processes share
//     Tmux      calls of the host, and its tmux (nothing of the three above)

/// A connection to a host that carries channels: the seam between what the
/// commands want and how it is brought there. It is up when it is made; from then on
/// one thread drives it with one poll loop, and nothing but `run` waits:
///
///     set.removeAll(); link.wants(&set); set.wait(seconds: ...); link.advance(set, now)
///
/// All times are seconds of `Clock.monotonic`.
public protocol Link: AnyObject {
  /// Why it is over; its channels have ended for the same reason.
  var ending: HostFailure? { get }

  /// What carries it, for messages: `libssh2` or `ssh`.
  var transport: TransportName { get }

  func wants(_ set: inout PollSet)

  /// The time at which `advance` is to be called at the latest, nil when only a
  /// descriptor can bring it on. A time that has passed means at once.
  var deadline: Double? { get }

  /// Goes on as far as it can without blocking.
  func advance(_ set: PollSet, now: Double)

  /// Starts a command on a terminal of the host's.
  ///
  /// - Parameters:
  ///   - command: a command line for the remote user's shell.
  ///   - size: columns and rows.
  ///   - term: TERM of the terminal.
  func openTerminal(
    _ command: String, size: WindowSize, term: String
  ) throws(HostFailure) -> any Channel

  /// Starts a command without a terminal: its standard input, output and error
  /// are the channel's.
  func run(_ command: String, _ wait: @escaping HostWait) throws(HostFailure) -> any Channel

  /// Ends everything at once, without waiting for the network. Channels that
  /// have not ended end with `closed`.
  func close()
}

extension Link {
  public var ending: HostFailure? { nil }
  public var deadline: Double? { nil }
  public func wants(_ set: inout PollSet) {}
  public func advance(_ set: PollSet, now: Double) {}
  public func openTerminal(
    _ command: String, size: WindowSize, term: String
  ) throws(HostFailure) -> any Channel {
    throw .local(why: "no terminal on this connection")
  }
  public func close() {}
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

/// One command on the other side of a link. Its bytes are taken and given in
/// pieces, as many as there is room for, so that both directions hold back when
/// the other end is slow: what is not read here stays at the host.
public protocol Channel: AnyObject {
  /// Adds what it waits for beside its link.
  func wants(_ set: inout PollSet)

  /// The time at which it is to be looked at, at the latest.
  var deadline: Double? { get }

  /// Why it ended; set once everything that came before has been read from here.
  var ending: Ending? { get }

  /// Whether the remote command has been started: before, bytes that come are
  /// the transport's own talk (a question for a passphrase), not the command's.
  var isStarted: Bool { get }

  /// Takes what has come from the remote's standard output (a terminal's both).
  ///
  /// - Parameter limit: no more is taken, nor more than `buffer` has room for.
  /// - Returns: the number of bytes, 0 when there are none now.
  func read(_ buffer: inout [UInt8], atMost limit: Int) -> Int

  /// Takes what has come from the remote's standard error, as `read` does.
  func readError(_ buffer: inout [UInt8], atMost limit: Int) -> Int

  /// Gives bytes to the remote's standard input.
  ///
  /// - Returns: how many were taken; 0 when there is no room now.
  func write(_ bytes: ArraySlice<UInt8>) -> Int

  /// How many bytes `write` would take now.
  var room: Int { get }

  /// Ends the remote's standard input, behind what was written.
  func finishWriting()

  /// Whether all bytes written have left our queues on this machine.
  var isDrained: Bool { get }

  /// Tells the remote terminal its size; the last one wins.
  func resize(_ size: WindowSize)

  /// Gives the channel up; the command at the other end gets a hang-up. `ending`
  /// is `closed` unless it had ended before.
  func close()
}

extension Channel {
  public func wants(_ set: inout PollSet) {}
  public var deadline: Double? { nil }
  public var isStarted: Bool { true }
  public var isDrained: Bool { true }
  public func resize(_ size: WindowSize) {}
}

/// How a command on the other side ended.
public enum Ending: Equatable, Sendable {
  /// By itself, with this status (0 to 255).
  case remoteExit(status: Int32)
  /// By a signal: its name without `SIG`.
  case remoteSignal(name: String)
  /// Unknown: the link failed, or the command was never started.
  case failed(HostFailure)
}

extension Ending {
  /// What a command that ends for this reason returns; the remote's own status
  /// where there is one, 128 more than the number of a signal.
  public var exitStatus: Int32 {
    switch self {
    case .remoteExit(let status): status
    case .remoteSignal(let name): 128 + Self.signalNumber(name)
    case .failed(let failure): failure.exitStatus
    }
  }

  /// The reason in words, as `HostFailure.reason`.
  public var reason: String {
    switch self {
    case .remoteExit(let status): "remote command ended with status \(status)"
    case .remoteSignal(let name): "remote command ended by signal \(name)"
    case .failed(let failure): failure.reason
    }
  }

  static func ended(bySignal number: Int32) -> Ending {
    .remoteSignal(name: signalNumbers.first { $0.value == number }?.key ?? "\(number)")
  }

  /// The names that go over the wire (RFC 4254, 6.10), and what they are nearly everywhere.
  private static let signalNumbers: [String: Int32] = [
    "HUP": 1, "INT": 2, "QUIT": 3, "ILL": 4, "ABRT": 6, "FPE": 8, "KILL": 9, "SEGV": 11,
    "PIPE": 13, "ALRM": 14, "TERM": 15,
  ]

  /// A host may say anything: an unknown name counts as TERM.
  private static func signalNumber(_ name: String) -> Int32 {
    if let known = signalNumbers[name] { return known }
    guard let number = Int32(name), 1...64 ~= number else { return 15 }
    return number
  }
}
