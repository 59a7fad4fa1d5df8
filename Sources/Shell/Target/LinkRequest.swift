import Core

/// All that a transport needs to know to make a link, with nothing left to look up.
public struct LinkRequest: Sendable {
  /// The host.
  public var destination: Destination
  /// How it was asked for.
  public var options: ConnectOptions
  /// The private key to sign in with, an absolute path. Nil: the agent's alone, or,
  /// with OpenSSH, what its own configuration says.
  public var identity: String?
  /// The file of pinned host keys, an absolute path; it need not exist.
  public var pins: String
  /// Where our own key, sockets and logs are: for the user alone.
  public var stateFolder: String
  /// Whether the link is for a terminal: OpenSSH then is ready before it has connected,
  /// and asks its questions on that terminal.
  public var isForTerminal = false
  /// Whether a connection that another command left behind is no good: all of the way
  /// is to be gone.
  public var isFresh = false
  /// Seconds to reach `ready` from nothing.
  public var connectTimeout = 15.0
  /// Asks the user for a secret; nil when there is nobody to ask. May be called at
  /// any time before `ready`, and blocks.
  public var ask: (@Sendable (_ prompt: String) -> [UInt8]?)?
  /// Takes notes for `-v`: one line each, not escaped yet.
  public var note: @Sendable (String) -> Void = { _ in }
  /// Takes what a person must be told in any case: a host key that is pinned
  /// for the first time, with its fingerprint.
  public var tell: @Sendable (String) -> Void = { _ in }

  /// - Parameters: see the properties.
  public init(
    destination: Destination, options: ConnectOptions, identity: String?, pins: String,
    stateFolder: String
  ) {
    self.destination = destination
    self.options = options
    self.identity = identity
    self.pins = pins
    self.stateFolder = stateFolder
  }
}
