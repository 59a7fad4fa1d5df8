/// What kind of agent a profile leads to, as the configuration spells it.
public enum AgentKind: String, CaseIterable, Sendable {
  /// The dashboard of a Clanky agent, or agent-serve.
  case clanky
  /// An OpenClaw gateway.
  case openclaw
  /// A Pincer server.
  case pincer
  /// A joelclaw gateway.
  case joelclaw
  /// The voice server of a Riff box.
  case riff
  /// A personal data server of the AT Protocol.
  case pds

  /// What answers at a URL of which nobody says so: one kind alone has WebSockets.
  init(usualAt url: String?) {
    let isSocket = ["ws://", "wss://"].contains { url?.prefix($0.count).lowercased() == $0 }
    self = isSocket ? .openclaw : .clanky
  }

  static var list: String {
    let names = allCases.map(\.rawValue)
    return names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
  }
}
