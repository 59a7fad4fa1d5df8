import Agent
import Core
import Records
import Screen
import Web

/// What the agent is told of its memory.
extension Memory {
  /// `GET /api/memory/fact-profile`.
  func factProfile() throws -> ExitStatus {
    let text = options.text
    let path = ClankyPath.factProfile(
      user: options.id, guild: try guild(), channel: options.channel,
      text: text.isEmpty ? nil : text)
    return try context(try caller.call(path), path, none: "nothing is loaded")
  }

  /// `POST /api/memory/runtime-snapshot`.
  func snapshot() throws -> ExitStatus {
    let text = options.text
    let path = ClankyPath.runtimeSnapshot
    let body = FactWire.snapshot(
      guild: try guild(), channel: options.channel, user: options.user,
      text: text.isEmpty ? nil : text, mode: options.turn.rawValue)
    let reply = try caller.call(path, method: "POST", body: body)
    return try context(reply, path, none: "nothing would be told")
  }

  private func context(
    _ reply: Caller.Reply, _ path: String, none: String
  ) throws -> ExitStatus {
    let place = caller.place(path)
    guard case .record(let record) = try Answer(reply, place: place),
      let value = try? record.withUnsafeBytes({ try JSONValue.parse($0) }), value.isObject
    else { throw CallFailure(place, "the answer is not an object", .failure) }
    let isEmpty = ContextView.isEmpty(value)
    if isEmpty { tellPerson(none) }
    if !isEmpty || output.form == .json {
      try output.records(
        [record], tsv: { _ in ContextView.tsv(value) },
        lines: { _, width in ContextView.lines(value, width: width) })
    }
    return isEmpty ? .negative : .success
  }
}

/// A fact profile or a runtime snapshot (Agent/Clanky/CONTRACT.md 5.3) for a person and
/// for a script.
enum ContextView {
  /// The lists of facts with the names of their members, in the order of the text.
  static func factLists(_ answer: JSONValue) -> [(name: String, facts: [JSONValue])] {
    var lists: [(name: String, facts: [JSONValue])] = []
    for holder in ["durableProfile", "slice"] {
      for (name, value) in answer[holder]?.members ?? [] {
        if name == "participantProfiles" {
          for profile in value.elements {
            let who = profile[either: "displayName", "userId"]?.text ?? "?"
            lists.append(("participant \(who)", profile["facts"]?.elements ?? []))
          }
        } else {
          lists.append((Section.title(name), value.elements))
        }
      }
    }
    return lists.filter { !$0.facts.isEmpty }
  }

  /// Whether there is nothing in it.
  static func isEmpty(_ answer: JSONValue) -> Bool {
    factLists(answer).isEmpty && windows(answer).isEmpty && sessions(answer).isEmpty
      && !(answer["activeVoiceSession"]?.isObject ?? false)
  }

  /// A line a fact: its list, then its members.
  static func tsv(_ answer: JSONValue) -> [String] {
    factLists(answer).flatMap { list in
      list.facts.map { value in
        let rest = Fact(value)?.tsv ?? RowText.escape(value.compact())
        return RowText.escape(list.name) + "\t" + rest
      }
    }
  }

  /// Everything a person wants to see.
  static func lines(_ answer: JSONValue, width: Int?) -> [Line] {
    var lines: [Line] = []
    for (name, value) in answer.members {
      guard let text = value.text, !text.isEmpty else { continue }
      let title = Fit.padEnd(Section.title(name), to: 12)
      lines.append(Line([Line.Span(title, .dim), Line.Span(Plain.line(text, limit: 500))]))
    }
    let people = (answer["participants"]?.elements ?? []).map(person)
    if !people.isEmpty {
      lines += Section.texts("participants", people.map { ("", $0) }, width: width)
    }
    for list in factLists(answer) {
      lines += Section.facts(Plain.line(list.name, limit: 100), list.facts, width: width)
    }
    lines += Section.texts("recent conversation", windows(answer), width: width)
    lines += Section.texts("recent voice sessions", sessions(answer), width: width)
    if let session = answer["activeVoiceSession"], session.isObject {
      let who = (session["participants"]?.elements ?? []).map(person).joined(separator: ", ")
      let id = session["sessionId"]?.text ?? "?"
      lines += Section.texts("active voice session", [(id, who)], width: width)
    }
    return lines
  }

  private static func person(_ value: JSONValue) -> String {
    let id = value["userId"]?.text ?? "?"
    let name = value["displayName"]?.text.map { "\($0) (\(id))" } ?? id
    return value["source"]?.text.map { "\(name), \(Section.source($0))" } ?? name
  }

  private static func windows(_ answer: JSONValue) -> [(head: String, text: String)] {
    (answer["promptContext"]?["recentConversationHistory"]?.elements ?? []).flatMap { window in
      let score = window["score"]?.number.map { "  score \(Amount.fixed($0, 3))" } ?? ""
      let head = Cell.time(window["createdAt"]).text + score
      return (window["messages"]?.elements ?? []).enumerated().map { index, message in
        let author = message["author"]?.text.map { "\($0): " } ?? ""
        return (index == 0 ? head : "", author + (message["content"]?.text ?? ""))
      }
    }
  }

  private static func sessions(_ answer: JSONValue) -> [(head: String, text: String)] {
    (answer["promptContext"]?["recentVoiceSessionContext"]?.elements ?? []).map { session in
      (Cell.time(session["endedAt"]).text, session["summaryText"]?.text ?? "")
    }
  }
}
