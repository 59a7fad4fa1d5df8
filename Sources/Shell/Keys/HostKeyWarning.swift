import Core

/// The wall before a host whose key is not the known one: what the user reads.
public struct HostKeyWarning: Equatable, Sendable {
  /// A key that a file holds for the host.
  public struct Known: Equatable, Sendable {
    /// `ssh-ed25519` and so on.
    public var type: String
    /// `SHA256:...`
    public var fingerprint: String
    /// The file's path.
    public var file: String
    /// The line in it, from 1.
    public var line: Int
    /// Whether the file is ours, and `--forget` drops the key.
    public var isPin: Bool
  }

  /// The host, as it is connected to.
  public var host: String
  /// Its port.
  public var port: Int
  /// The host as the user names it, where that is something else.
  public var alias: Destination?
  /// The type of the key that it shows.
  public var type: String
  /// The fingerprint of it.
  public var fingerprint: String
  /// What the files hold; of a revoked key, the line that revokes it.
  public var known: [Known]
  /// Whether the key is one that must never be believed.
  public var isRevoked: Bool

  /// The reason for which everything ends here.
  public var ending: Ending { .hostKeyChanged(explanation: lines) }

  /// One line each, the first of which says it all. Nothing in them is of the host's
  /// making but the type of its key.
  public var lines: [String] {
    let name = Destination.pinName(host: host, port: port)
    if isRevoked {
      return [
        "\(name): HOST KEY REVOKED: this may be a man in the middle",
        "the host shows:  \(describe(type, fingerprint))",
      ]
        + known.map { "which is revoked by \($0.file):\($0.line)" }
        + ["nothing was sent to it; connect when it has got a new key"]
    }
    var lines = [
      "\(name): HOST KEY CHANGED: this may be a man in the middle, reading along",
      "the host shows:  \(describe(type, fingerprint))",
    ]
    for key in known {
      lines.append(
        "\(key.isPin ? "pinned is:      " : "known is:       ")"
          + " \(describe(key.type, key.fingerprint)) (\(key.file):\(key.line))")
    }
    lines.append("nothing was sent to it, no key of yours either")
    lines.append(
      "ask its keeper, or look there: ssh-keygen -lf /etc/ssh/ssh_host_"
        + "\(HostKey.kind(of: type).lowercased())_key.pub")
    lines.append(
      known.contains(where: \.isPin)
        ? "if the new key is right: tmux-attach --forget \(operand), and connect again"
        : "if the new key is right: ssh-keygen -R '\(name)' -f \(known.first?.file ?? "FILE")")
    return lines
  }

  /// The host as the command takes it.
  private var operand: String {
    let (host, port) = alias.map { ($0.name, $0.port) } ?? (host, port == 22 ? nil : port)
    let isAddress = host.utf8.contains(UInt8(ascii: ":"))
    let name = isAddress ? "[\(host)]" : host
    return port.map { "\(name):\($0)" } ?? name
  }

  private func describe(_ type: String, _ fingerprint: String) -> String {
    "\(HostKey.kind(of: type)) \(fingerprint)"
  }
}
