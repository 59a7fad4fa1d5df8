import Agent
import Core
import Screen

struct Changes {
  private struct Told { let key: String, at: Timestamp? }

  private struct Known {
    var doing = ""
    var attention: String?
    var people: [String: String] = [:]
    var calls: [String: VoiceToolCall.State] = [:]
    var music: String?
    var screen = false
    var note: Timestamp?
    var reply: Timestamp?
    var played: Timestamp?
    var servers: [String: Bool] = [:]
  }

  private var known: [String: Known] = [:]
  private var told: [String: [Told]] = [:]
  private var isFirst = true

  mutating func lines(
    _ sessions: [VoiceSession], at now: Timestamp, tellsAll: Bool = false,
    reason: (String) -> String? = { _ in nil }
  ) -> [String] {
    var lines: [String] = []
    let ids = Set(sessions.map { $0.sessionId ?? "" })
    for id in known.keys.sorted() where !ids.contains(id) {
      known[id] = nil
      told[id] = nil
      let why = Untrusted.text(reason(id)).map { ": \($0)" } ?? ""
      lines.append(line(id, now, "ends\(why)"))
    }
    if isFirst && sessions.isEmpty && !tellsAll { lines.append(line("", now, "no voice session")) }
    let word = isFirst && !tellsAll ? "now" : "begins"
    isFirst = false
    for session in sessions {
      lines += changes(of: session, now, tellsAll, word).map {
        line(session.sessionId ?? "", now, $0)
      }
    }
    return lines
  }

  func line(_ id: String, _ now: Timestamp, _ words: String) -> String {
    let short = Untrusted.text(id).map(Summary.short) ?? "-"
    return "\(now.rfc3339) \(short) \(words)"
  }

  private mutating func changes(
    of session: VoiceSession, _ now: Timestamp, _ tellsAll: Bool, _ word: String
  ) -> [String] {
    let id = session.sessionId ?? ""
    let summary = Summary(session: session, now: now)
    var lines: [String] = []
    var old = known[id] ?? Known()
    let isNew = known[id] == nil
    let isSilent = isNew && !tellsAll
    if isNew {
      lines.append("\(word): \(summary.words)")
      old.doing = summary.doing
      old.attention = summary.attention
    }
    var changed: [String] = []
    people(session, &old, &changed)
    turns(session, id, now, isSilent: isSilent, &changed)
    calls(session, &old, &changed)
    parts(session, summary, &old, &changed)
    known[id] = old
    return isSilent ? lines : lines + changed
  }

  private func people(_ session: VoiceSession, _ old: inout Known, _ lines: inout [String]) {
    var people: [String: String] = [:]
    for person in session.participants {
      let name = Untrusted.person(person.displayName, person.userId)
      people[person.userId ?? name] = name
    }
    lines += people.filter { old.people[$0.key] == nil }.values.sorted().map { "\($0) is there" }
    lines += old.people.filter { people[$0.key] == nil }.values.sorted().map { "\($0) has left" }
    old.people = people
  }

  private mutating func turns(
    _ session: VoiceSession, _ id: String, _ now: Timestamp, isSilent: Bool,
    _ lines: inout [String]
  ) {
    var told = told[id] ?? []
    for turn in session.recentTurns.suffix(isSilent ? 220 : 40) {
      guard turn.kind == nil || turn.kind == "speech" || turn.kind == "thought",
        let text = Untrusted.text(turn.text)
      else { continue }
      let isAgent = turn.role == "assistant"
      let key = (isAgent ? "a" : "u") + text
      let isTold = told.contains { other in
        guard other.key == key, let one = other.at, let two = turn.at else {
          return other.key == key
        }
        // An event and the state give one turn times a moment apart.
        return abs(one.seconds - two.seconds) <= 15
      }
      if isTold { continue }
      told.append(Told(key: key, at: turn.at))
      let speaker =
        turn.kind == "thought"
        ? "agent thinks"
        : isAgent ? "agent" : Untrusted.text(turn.speakerName, or: "someone")
      lines.append("\(speaker): \(text)")
    }
    self.told[id] = told.suffix(300)
  }

  private func calls(_ session: VoiceSession, _ old: inout Known, _ lines: inout [String]) {
    var calls: [String: VoiceToolCall.State] = [:]
    for call in session.toolCalls {
      let id = call.callId ?? "\(call.toolName ?? "") \(call.startedAt?.rfc3339 ?? "")"
      calls[id] = call.state
      guard old.calls[id] != call.state else { continue }
      let name = "tool \(Untrusted.text(call.toolName, or: "?"))"
      let took = call.runtimeMs.map { " in \(Amount.duration($0))" } ?? ""
      switch call.state {
      case .running: lines.append("\(name) runs")
      case .ok:
        let summary = Untrusted.value(call.outputSummary).map { ": \($0)" } ?? ""
        lines.append("\(name) done\(took)\(summary)")
      case .failed:
        lines.append("\(name) failed\(took)" + (Untrusted.text(call.error).map { ": \($0)" } ?? ""))
      }
    }
    old.calls = calls
  }

  private func parts(
    _ session: VoiceSession, _ summary: Summary, _ old: inout Known, _ lines: inout [String]
  ) {
    if let mode = summary.attention, isNew(mode, &old.attention) {
      lines.append("attention \(mode)")
    }
    if isNew(summary.music, &old.music) {
      lines.append(summary.music.map { "music plays: \($0)" } ?? "music stops")
    }
    if isNew(summary.watchesScreen, &old.screen) {
      lines.append(summary.watchesScreen ? "watches a screen" : "watches no screen")
    }
    if let note = session.streamWatch?.visualFeed.last, isNew(note.at, &old.note),
      let text = Untrusted.text(note.text)
    {
      lines.append("sees: \(text)")
    }
    // An event and the state give one sound times a moment apart.
    if let at = session.soundboard?.lastPlayedAt,
      old.played.map({ $0.adding(.seconds(2)) < at }) ?? true
    {
      old.played = at
      lines.append("plays a sound")
    }
    for server in session.mcpStatus {
      guard let name = Untrusted.text(server.serverName), let isUp = server.connected else {
        continue
      }
      if isNew(isUp, &old.servers[name, default: true]) {
        let why = Untrusted.text(server.lastError).map { ": \($0)" } ?? ""
        lines.append(isUp ? "MCP server \(name) is up" : "MCP server \(name) is down\(why)")
      }
    }
    if let reply = session.latency?.recentTurns.first, let at = reply.at,
      old.reply.map({ $0 < at }) ?? true
    {
      old.reply = at
      if let total = reply.stages.totalMs { lines.append("reply after \(Amount.duration(total))") }
    }
    if isNew(summary.doing, &old.doing) { lines.append(summary.doing) }
  }

  /// Puts a value in the place of the one before. Returns whether it is another.
  private func isNew<Value: Equatable>(_ value: Value, _ old: inout Value) -> Bool {
    defer { old = value }
    return value != old
  }
}

struct Summary {
  let session: VoiceSession
  let now: Timestamp

  var activity: VoiceActivity { session.activity }

  private var speakers: [String] {
    session.activeCaptures.map { Untrusted.person($0.displayName, $0.userId, in: session) }
  }

  var attention: String? { Untrusted.text(session.conversation?.wake?.attentionMode) }

  /// Those that run.
  var tools: [String] {
    session.toolCalls.filter { $0.state == .running }
      .map { Untrusted.text($0.toolName, or: "a tool") }
  }

  var music: String? {
    session.music?.active == true
      ? Untrusted.text(session.music?.lastTrackTitle, or: "music") : nil
  }

  var watchesScreen: Bool { session.streamWatch?.active == true }

  /// A long id's beginning: enough to name a session with `-s`.
  static func short(_ id: String) -> String { id.count <= 20 ? id : String(id.prefix(8)) }

  /// `12m`, `1h02m`, `2d03h`.
  private var elapsed: String? {
    Age.seconds(from: session.startedAt, to: now).map { seconds in
      seconds < 60 ? "0m" : Amount.duration(Double(seconds / 60) * 60_000)
    }
  }

  /// What the agent does, and which people talk: `listening · Mika talks`.
  var doing: String {
    let speakers = speakers
    if speakers.isEmpty { return activity.rawValue }
    let few = speakers.count <= 6 ? speakers : speakers.prefix(5) + ["\(speakers.count - 5) more"]
    return "\(activity.rawValue) · \(few.joined(separator: ", ")) \(talk(speakers))"
  }

  private func talk(_ speakers: [String]) -> String { speakers.count == 1 ? "talks" : "talk" }

  var words: String {
    let people = session.participantCount
    let tools = tools
    let parts: [String?] =
      [
        doing, elapsed, Untrusted.text(session.modeLabel),
        PanelText.count(people, "person", "people"), attention,
      ]
      + tools.prefix(5).map { "tool \($0) runs" } + [
        tools.count > 5 ? "\(tools.count) tools run" : nil, music.map { "music \($0)" },
        watchesScreen ? "watches a screen" : nil,
        session.latency?.recentTurns.first?.stages.totalMs.map {
          "last reply \(Amount.duration($0))"
        },
        Untrusted.text(session.guildId).map { "guild \($0)" },
      ]
    return parts.compactMap(\.self).joined(separator: "; ")
  }

  var brief: String {
    let speakers = speakers
    var text = activity.rawValue
    if let elapsed { text += " \(elapsed)" }
    if let first = speakers.first {
      let more = speakers.count > 1 ? " +\(speakers.count - 1)" : ""
      text += " · \(Fit.truncate(first, to: 16))\(more) \(talk(speakers))"
    } else if let tool = tools.first {
      text += " · \(Fit.truncate(tool, to: 16))"
    }
    return text
  }
}
