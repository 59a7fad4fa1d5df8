/// What is known of a kind of agent without asking one: what the configuration, agent-setup and
/// completions need.
///
/// A kind is a folder beside this file, with its facts in `ROOM/ROOMKind.swift`, a line in the
/// list below, and one in `KindFacts.backend`.
public struct KindFacts: Sendable, Equatable {
  /// As the configuration spells it.
  public let name: String
  /// What answers there, in one line.
  public let line: String
  /// Which sorts of place it can have.
  public var places: Set<AgentPlace.Sort> = [.url]
  /// Where it is found when no URL is given; nil where that has to be said.
  public var defaultURL: String?
  /// What it calls what lets somebody in.
  public var secret = "token"
  /// Its own keys of the configuration.
  public var keys: [KindKey] = []
  /// What agent-setup asks; nil where it writes no profile of this kind.
  public var setup: SetupFacts?

  public static func == (one: KindFacts, other: KindFacts) -> Bool { one.name == other.name }

  /// All kinds.
  public static let all: [KindFacts] = [clanky, openclaw, pincer, joelclaw, riff, pds, claude]

  /// The kind of this name.
  public static func named(_ name: String) -> KindFacts? { all.first { $0.name == name } }

  /// What answers at a URL of which nobody says so: one kind alone has WebSockets.
  public static func usual(at url: String?) -> KindFacts {
    let isSocket = ["ws://", "wss://"].contains { url?.prefix($0.count).lowercased() == $0 }
    return isSocket ? openclaw : clanky
  }

  /// Names of kinds as a sentence has them: `a, b or c`.
  public static func list(_ kinds: [KindFacts] = all) -> String {
    let names = kinds.map(\.name)
    return names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
  }
}

/// A key of a profile that only one kind of agent has a use for.
public struct KindKey: Sendable {
  /// As the configuration spells it.
  public let name: String
  /// What its value is: `FILE`.
  public let value: String
  /// What it is for, in one line.
  public let line: String
  /// Whether it holds at another address than that of the profile, too.
  public let staysElsewhere: Bool

  public init(_ name: String, _ value: String, _ line: String, staysElsewhere: Bool = false) {
    (self.name, self.value, self.line) = (name, value, line)
    self.staysElsewhere = staysElsewhere
  }
}

/// What agent-setup asks about a kind.
public struct SetupFacts: Sendable {
  /// The question for the URL.
  public var address = "URL of the agent (https://... or, for a gateway, ws://...)"
  /// What a URL without a scheme begins with: `http` or `ws`.
  public var scheme = "http"
  /// The question for what lets in.
  public var secret = "Token, not shown; none if the agent has none"
  /// What agent-call is told to see whether it answers.
  public var word = ["health"]
  /// Whether an answer without a row is one.
  public var mayBeEmpty = false
  /// The commands that a person tries next, without the profile.
  public var next = ["agent-tail", "agent-chat -i", "agent-call health"]

  /// Of a kind that says nothing else.
  public static let usual = SetupFacts()

  /// `next` with a profile.
  public func commands(_ profile: String) -> [String] {
    next.map { command in
      let end = command.firstIndex(of: " ") ?? command.endIndex
      return command[..<end] + " -p \(profile)" + command[end...]
    }
  }
}
