import Agent
import Core
import Screen

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
