import Core

/// The options that say how a host is reached and believed: the same in every
/// command that uses SSH.
public struct ConnectOptions: Sendable {
  /// What `--transport` says.
  public enum Choice: String, CaseIterable, Sendable {
    /// Whatever fits the host: see `AutoLink`.
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
  /// tmux -L.
  public var label = "riff"
  /// 1 to 65535; wins over the one written with the host.
  public var port: Int?
  /// Which transport.
  public var transport = Choice.auto
  /// A probe goes out when nothing was heard for so many seconds; after three times
  /// as many the link is given up.
  public var keepalive = 4.0

  /// Nothing given.
  public init() {}

  /// What goes into a command's table.
  public static let table = [
    Option("i", "identity", "FILE", "sign in with this private key", completion: .file),
    Option(nil, "agent", nil, "sign in with the keys of ssh-agent"),
    Option("P", "port", "PORT", "the host's SSH port (default: 22)"),
    Option(
      nil, "transport", "NAME", "auto, libssh2 or ssh (default: auto)",
      completion: .words(Choice.allCases.map(\.rawValue))),
    Option(nil, "pins", "FILE", "pin host keys in FILE", completion: .file),
    Option(
      nil, "known-hosts", "[FILE]", "believe OpenSSH's known hosts, too (~/.ssh/known_hosts)",
      completion: .file),
    Option(nil, "label", "LABEL", "the tmux server's label (default: riff)"),
    Option(
      nil, "keepalive", "SECONDS", "probe a silent link; lost after three times this (default: 4)"),
  ]

  /// Takes one option.
  ///
  /// - Returns: false when it is none of these.
  /// - Throws: `UsageError` for an argument that is none.
  public mutating func take(_ item: ParsedOptions.Item) throws(UsageError) -> Bool {
    switch item.name {
    case "identity": identity = item.path
    case "agent": usesAgent = true
    case "port":
      let number = try item.wholeNumber()
      guard 1...65535 ~= number else { throw UsageError("--port \(item.value): no port") }
      port = number
    case "transport":
      guard let choice = Choice(rawValue: item.value) else {
        throw UsageError("--transport \(item.value): not auto, libssh2 or ssh")
      }
      transport = choice
    case "pins": pins = item.path
    case "known-hosts": knownHosts = item.path
    case "label":
      guard !item.value.isEmpty, !item.value.hasPrefix("-"),
        item.value.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "/") })
      else { throw UsageError("--label \(item.value): no label") }
      label = item.value
    case "keepalive": keepalive = max(1, try item.seconds())
    default: return false
    }
    return true
  }
}
