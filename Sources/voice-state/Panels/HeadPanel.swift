import Core
import Screen

/// The session itself: what it is doing, since when, until when.
struct HeadPanel: Panel {
  static let name = "session"
  static let title = "Session"
  static let isHead = true

  private let session: VoiceSession
  private let now: Timestamp

  init?(_ session: VoiceSession, at now: Timestamp) {
    self.session = session
    self.now = now
  }

  func lines(width: Int) -> [Line] {
    var title = session.activity.word
    if let mode = Outside.text(session.modeLabel) { title += " · " + mode }
    let elapsed = Age.clock(from: session.startedAt, to: now)
    var facts = FactFlow()
    facts.add("channel", Outside.text(session.voiceChannelId, or: ""))
    facts.add("guild", Outside.text(session.guildId, or: ""))
    return [Rule.line(title, note: Line(elapsed ?? ""), width: width)] + facts.lines(width: width)
  }
}
