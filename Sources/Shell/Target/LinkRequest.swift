import CLibc
public import Core

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
  /// Whether the whole way is to be gone, and a connection that another command left
  /// behind must not be used.
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
  /// The label of the host's tmux server: tmux -L.
  public var label: String {
    options.label ?? destination.section?.label ?? Configuration.HostSection.usualLabel
  }
}

extension LinkRequest {
  /// Puts together what the command line, the configuration and the defaults say. An
  /// option wins over what is written with the host, that over the section of the
  /// configuration. Makes the state folder.
  ///
  /// `identity` is the option's, else the section's, else nil: our own key is the
  /// libssh2 transport's affair, see `OwnKey`.
  ///
  /// - Parameters:
  ///   - host: the operand; nil for the configured default.
  ///   - options: how it is to be reached; in the request its paths are absolute.
  ///   - diagnostics: is told what there is to tell.
  /// - Throws: `UsageError` when no host is named, or what is named is not one;
  ///   `Failure` for a section that is at fault and a key file that cannot be read.
  public static func make(
    host: String?, options: ConnectOptions, settings: Settings, diagnostics: Diagnostics
  ) throws -> LinkRequest {
    guard let text = try host ?? settings.defaultHost() else {
      let path = settings.configuration.path
      throw UsageError(
        "a HOST is needed, or a line 'host = NAME' in \(path)",
        advice: "'.' as HOST is this machine")
    }
    var destination = try Destination(text)
    if let section = try settings.host(destination.name) {
      try destination.lay(over: section)
    }
    if let port = options.port { destination.port = port }
    let folders = settings.folders
    var options = options
    let identity = options.identity.map { absolute(folders.expandHome($0)) }
    options.identity = identity
    options.knownHosts = options.knownHosts.flatMap { knownHosts($0, folders) }
    let state = try folders.stateFile("known_hosts")
    let pins = options.pins.map { absolute(folders.expandHome($0)) } ?? state
    options.pins = pins
    let chosen = identity ?? destination.section?.identity
    if let chosen, access(chosen, R_OK) != 0 {
      throw Failure(chosen, systemReason(systemError))
    }
    return LinkRequest(
      destination: destination, options: options, identity: chosen, pins: pins,
      stateFolder: folders.state, ask: askSecret, note: { diagnostics.note($0) },
      tell: { diagnostics.say($0) })
  }

  /// OpenSSH's own, which need not exist, where the option stands alone.
  private static func knownHosts(_ path: String, _ folders: Folders) -> String? {
    guard path.isEmpty else { return absolute(folders.expandHome(path)) }
    let own = folders.expandHome("~/.ssh/known_hosts")
    return access(own, F_OK) == 0 || systemError != ENOENT ? own : nil
  }

  private static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = currentFolder() else { return path }
    return Folders.join(folder, path)
  }
}

/// Asks the user for a secret on the terminal of the process, wherever standard input comes from,
/// without showing what is typed. Blocks; the terminal may be in any mode.
///
/// - Returns: the answer without its line feed, which may be empty; nil when there is no terminal, or
///   it was given up (^C, ^D).
public func askSecret(_ prompt: String) -> [UInt8]? {
  var answer = [CChar](repeating: 0, count: 1024)
  let count = clibc_ask_secret(Visible.line(prompt), &answer, answer.count)
  defer { answer.withUnsafeMutableBytes { clibc_wipe($0.baseAddress, $0.count) } }
  return count < 0 ? nil : answer[..<count].map { UInt8(bitPattern: $0) }
}
