public import Core

/// The options that say how a host is reached and believed: the same in every
/// command that uses SSH.
public struct ConnectOptions: Sendable {
  /// What `--transport` says.
  public enum Choice: String, CaseIterable, Sendable {
    /// Whatever fits the host: see `TransportChoice`.
    case auto
    case libssh2
    case ssh
  }

  /// The private key's file, as written.
  public var identity: String?
  /// Whether keys of ssh-agent are used.
  public var usesAgent = false
  /// Our file of pinned host keys; nil for the one in the state folder.
  public var pins: String?
  /// OpenSSH's file of host keys to honour, too; empty for the user's own, nil for none.
  public var knownHosts: String?
  /// tmux -L; wins over the section's.
  public var label: String?
  /// 1 to 65535; wins over the one written with the host.
  public var port: Int?
  /// Which transport.
  public var transport = Choice.auto
  /// A probe goes out when nothing was heard for so many seconds; after three times
  /// as many the link is given up.
  public var keepalive = 4.0
  /// Seconds that one answer of the host may take.
  public var maxTime = 9.0

  /// Nothing given.
  public init() {}

  /// For a command's table.
  public static let options: [Option<ConnectOptions>] = [
    Option("i", "identity", "FILE", "sign in with this private key", .path) { $0.identity = $1 },
    Option(nil, "agent", "sign in with the keys of ssh-agent") { $0.usesAgent = true }.rare,
    Option(
      "P", "port", "PORT", "the host's SSH port (default: 22)", .wholeNumber(in: 1...65535)
    ) { $0.port = $1 }.rare,
    Option(
      nil, "transport", "NAME", "auto, libssh2 or ssh (default: auto)", .choice(of: Choice.self)
    ) { $0.transport = $1 }.rare,
    Option(nil, "pins", "FILE", "pin host keys in FILE", .path) { $0.pins = $1 }.rare,
    Option(
      nil, "known-hosts", "[FILE]", "trust OpenSSH's known hosts, too (~/.ssh/known_hosts)",
      .path
    ) { $0.knownHosts = $1 }.rare,
    Option(
      nil, "label", "LABEL",
      "the tmux server's label (default: \(Configuration.HostSection.usualLabel))", Reading(label)
    ) {
      $0.label = $1
    }.rare,
    Option(
      nil, "keepalive", "SECONDS", "check a silent connection after this time (default: 4)",
      .seconds
    ) { $0.keepalive = max(1, $1) }.rare,
    Option(
      nil, "max-time", "SECONDS", "wait this long for an answer of the host (default: 9)", .seconds
    ) {
      $0.maxTime = $1
    }.rare,
  ]

  @Sendable private static func label(_ argument: OptionArgument) throws(UsageError) -> String {
    guard isLabel(argument.value) else { throw argument.fault("no label") }
    return argument.value
  }

  static func isLabel(_ text: String) -> Bool {
    !text.isEmpty && !text.hasPrefix("-")
      && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "/") }
  }
}
