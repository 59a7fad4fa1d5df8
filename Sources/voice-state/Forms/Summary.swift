import Agent
import Core
import Screen

struct Summary: Equatable {
  let activity: VoiceActivity
  let speakers: [String]
  let minutes: Int64?
  let people: Int
  let guild: String?
  let id: String?
  let mode: String?
  let attention: String?
  let tools: [String]
  let music: String?
  let watchesScreen: Bool
  /// The last answer's time, milliseconds.
  let lastReplyMs: Double?

  init(_ session: VoiceSession, at now: Timestamp) {
    activity = session.activity
    speakers = session.activeCaptures.map { capture in
      Untrusted.person(capture.displayName ?? session.name(of: capture.userId), capture.userId)
    }
    minutes = Age.seconds(from: session.startedAt, to: now).map { $0 / 60 }
    people = session.participantCount
    guild = Untrusted.text(session.guildId)
    id = Untrusted.text(session.sessionId)
    mode = Untrusted.text(session.modeLabel)
    attention = Untrusted.text(session.conversation?.wake?.attentionMode)
    tools = session.toolCalls.filter { $0.state == .running }
      .map { Untrusted.text($0.toolName, or: "a tool") }
    music =
      session.music?.active == true
      ? Untrusted.text(session.music?.lastTrackTitle, or: "music") : nil
    watchesScreen = session.streamWatch?.active == true
    lastReplyMs = session.latency?.recentTurns.first?.stages.totalMs
  }

  /// A long id's beginning: enough to name a session with `-s`.
  static func short(_ id: String) -> String { id.count <= 20 ? id : String(id.prefix(8)) }

  /// `12m`, `1h02m`, `2d03h`.
  var elapsed: String? {
    minutes.map { $0 == 0 ? "0m" : Amount.duration(Double($0) * 60_000) }
  }

  /// What the agent does, and which people talk: `listening · Mika talks`.
  var doing: String {
    if speakers.isEmpty { return activity.rawValue }
    let names = Self.few(speakers).joined(separator: ", ")
    return "\(activity.rawValue) · \(names) \(talk)"
  }

  private var talk: String { speakers.count == 1 ? "talks" : "talk" }

  private static func few(_ names: [String]) -> [String] {
    names.count <= 6 ? names : names.prefix(5) + ["\(names.count - 5) more"]
  }

  var words: String {
    var parts = [doing]
    if let elapsed { parts.append(elapsed) }
    if let mode { parts.append(mode) }
    parts.append(people == 1 ? "1 person" : "\(people) people")
    if let attention { parts.append(attention) }
    for tool in tools.prefix(5) { parts.append("tool \(tool) runs") }
    if tools.count > 5 { parts.append("\(tools.count) tools run") }
    if let music { parts.append("music \(music)") }
    if watchesScreen { parts.append("watches a screen") }
    if let lastReplyMs { parts.append("last reply \(Amount.duration(lastReplyMs))") }
    if let guild { parts.append("guild \(guild)") }
    return parts.joined(separator: "; ")
  }

  var brief: String {
    var text = activity.rawValue
    if let elapsed { text += " \(elapsed)" }
    if let first = speakers.first {
      let name = Fit.truncate(first, to: 16)
      text += " · \(name)" + (speakers.count > 1 ? " +\(speakers.count - 1)" : "") + " \(talk)"
    } else if let tool = tools.first {
      text += " · \(Fit.truncate(tool, to: 16))"
    }
    return text
  }
}
