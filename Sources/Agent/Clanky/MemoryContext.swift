public import Core
import Records

/// What the agent is told of its memory: a fact profile or a runtime snapshot
/// (Agent/Clanky/CONTRACT.md 5.3).
public struct MemoryContext: Sendable {
  /// Something said before.
  public struct Said: Sendable {
    /// When, and how well it fits what is asked; nil where that was told already.
    public let at: JSONValue?, score: Double?
    /// By whom, and what.
    public let text: String
  }

  /// The members that are words, by their names in words.
  public let words: [(title: String, text: String)]
  /// Who takes part, in words.
  public let people: [String]
  /// The lists of facts in the order of the text; none is empty.
  public let facts: [(title: String, facts: [JSONValue])]
  /// What was said lately.
  public let conversations: [Said]
  /// What voice sessions were about.
  public let voiceSessions: [Said]
  /// The voice session that is active.
  public let activeVoiceSession: (id: String, people: [String])?

  /// - Parameter record: the answer.
  /// - Returns: nil when it is not an object.
  public init?(_ record: [UInt8]) {
    guard let answer = JSONValue(record), answer.isObject else { return nil }
    words = answer.members.compactMap { name, value in
      guard let text = value.text, !text.isEmpty else { return nil }
      return (inWords(name), text)
    }
    people = Self.people(answer)
    facts = Self.facts(answer)
    let prompt = answer["promptContext"]
    conversations = (prompt?["recentConversationHistory"]?.elements ?? []).flatMap(Self.window)
    voiceSessions = (prompt?["recentVoiceSessionContext"]?.elements ?? []).map { session in
      Said(at: session["endedAt"], score: nil, text: session["summaryText"]?.text ?? "")
    }
    activeVoiceSession = answer["activeVoiceSession"].flatMap { session in
      session.isObject ? (session["sessionId"]?.text ?? "?", Self.people(session)) : nil
    }
  }

  /// Whether there is nothing in it.
  public var isEmpty: Bool {
    facts.isEmpty && conversations.isEmpty && voiceSessions.isEmpty && activeVoiceSession == nil
  }

  private static func facts(_ answer: JSONValue) -> [(title: String, facts: [JSONValue])] {
    var lists: [(title: String, facts: [JSONValue])] = []
    for (name, value) in ["durableProfile", "slice"].flatMap({ answer[$0]?.members ?? [] }) {
      if name == "participantProfiles" {
        for profile in value.elements {
          let who = profile[either: "displayName", "userId"]?.text ?? "?"
          lists.append(("participant \(who)", profile["facts"]?.elements ?? []))
        }
      } else {
        lists.append((inWords(name), value.elements))
      }
    }
    return lists.filter { !$0.facts.isEmpty }
  }

  private static func people(_ answer: JSONValue) -> [String] {
    (answer["participants"]?.elements ?? []).map { person in
      let id = person["userId"]?.text ?? "?"
      let name = person["displayName"]?.text.map { "\($0) (\(id))" } ?? id
      return person["source"]?.text.map { "\(name), \($0.exchanging("_", for: " "))" } ?? name
    }
  }

  private static func window(_ window: JSONValue) -> [Said] {
    (window["messages"]?.elements ?? []).enumerated().map { index, message in
      let author = message["author"]?.text.map { "\($0): " } ?? ""
      let isFirst = index == 0
      return Said(
        at: isFirst ? window["createdAt"] : nil, score: isFirst ? window["score"]?.number : nil,
        text: author + (message["content"]?.text ?? ""))
    }
  }
}

/// A run that made facts of what was said (Agent/Clanky/CONTRACT.md 5.2).
public struct Reflection: Sendable {
  private static let lists = ["extractedFacts", "selectedFacts", "savedFacts", "skippedFacts"]

  /// Its other members by their names, and whether each is an instant.
  public let members: [(name: String, value: JSONValue, isTime: Bool)]
  /// The lists of facts.
  public let facts: [(title: String, facts: [JSONValue])]
  private let names: [String?]

  /// - Parameter row: of the list of runs; anything else has nothing in it.
  public init(_ row: [UInt8]) {
    let run = JSONValue(row)
    members = (run?.members ?? []).compactMap { name, value in
      value.isNull || Self.lists.contains(name) ? nil : (name, value, name.hasSuffix("At"))
    }
    facts = Self.lists.map { (inWords($0), run?[$0]?.elements ?? []) }
    names = [run?["runId"]?.text, run?["dateKey"]?.text]
  }

  /// Whether it is meant by its id, or by its day.
  public func isNamed(_ name: String) -> Bool { names.contains(name) }
}

/// A member's name in words: `userFacts`, `user facts`.
private func inWords(_ name: String) -> String {
  name.prefix(60).map { $0.isUppercase ? " \($0.lowercased())" : String($0) }.joined()
}
