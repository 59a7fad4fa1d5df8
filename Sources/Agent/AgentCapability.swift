import Core

/// What a command wants of an agent.
public enum AgentCapability: Sendable {
  /// Its events as they happen.
  case follow
  /// Lists, single records, commands.
  case call
  /// Searching what it remembers.
  case memory
  /// Its voice sessions.
  case voice
  /// Saying something to it.
  case chat
  /// Saying yes or no to what it asks for.
  case approvals

  /// What is said of an agent that has none: `an OpenClaw gateway has no memory to search`.
  var absence: String {
    switch self {
    case .follow: "has no events to follow"
    case .call: "has nothing to ask for"
    case .memory: "has no memory to search"
    case .voice: "has no voice sessions"
    case .chat: "takes no messages"
    case .approvals: "asks for no approvals"
    }
  }
}

extension AgentKind {
  /// What people call it, what an agent of the kind can be asked for, and what of
  /// that this suite knows how to ask: a new backend is a folder beside this file
  /// and a word or two here.
  private var traits: (name: String, has: Set<AgentCapability>, spoken: Set<AgentCapability>) {
    let dashboard: Set<AgentCapability> = [.follow, .call, .memory, .voice]
    let gateway: Set<AgentCapability> = [.follow, .call, .chat, .approvals]
    return switch self {
    case .clanky: ("a Clanky dashboard", dashboard, dashboard)
    case .openclaw: ("an OpenClaw gateway", gateway, [])
    case .pincer: ("a Pincer server", gateway, [])
    case .joelclaw: ("a joelclaw server", [.follow, .call, .chat], [])
    case .riff: ("a riff voice server", [.call, .chat], [])
    }
  }

  /// What people call an agent of this kind, with its article.
  public var name: String { traits.name }

  /// Why an agent of this kind cannot be asked for something.
  ///
  /// - Parameters:
  ///   - capability: what is wanted.
  ///   - program: the command that wants it.
  /// - Returns: a few words, nil when it can.
  public func obstacle(to capability: AgentCapability, in program: String) -> String? {
    if traits.spoken.contains(capability) { return nil }
    return traits.has.contains(capability)
      ? "this version of \(program) does not speak to \(name)" : "\(name) \(capability.absence)"
  }
}

extension Settings.Profile {
  /// Makes sure that the agent of the profile can be asked for something.
  ///
  /// - Parameters:
  ///   - capability: what is wanted.
  ///   - program: the command that wants it.
  /// - Throws: `SettingsError`: why it cannot.
  public func require(
    _ capability: AgentCapability, for program: String
  ) throws(SettingsError) {
    guard let obstacle = kind.obstacle(to: capability, in: program) else { return }
    throw SettingsError(name ?? "AGENT_URL", obstacle)
  }
}
