import Agent
import Core
import Records
import Screen

struct HeadPanel: Panel {
  static let name = "session", title = "Session"
  static let isHead = true

  private static let soonSeconds: Int64 = 60

  private let session: VoiceSession, now: Now

  init?(_ session: VoiceSession, at now: Now) { (self.session, self.now) = (session, now) }

  static func style(of activity: VoiceActivity) -> Style {
    switch activity {
    case .speaking: Style(Palette.positive, bold: true)
    case .processing: Style(Palette.warning, bold: true)
    case .listening: Style(Palette.colour(of: .asr), bold: true)
    case .disconnected: Style(Palette.error, bold: true)
    case .idle: .bold
    }
  }

  @Lines func lines(width: Int) -> [Line] {
    let activity = session.activity
    let style = Self.style(of: activity)
    let title = Line {
      Line(activity == .disconnected ? "✗ " : activity == .idle ? "○ " : "● ", style)
      Line(activity.word, style)
      if let mode = Untrusted.text(session.modeLabel) {
        " · ".dim
        mode
      }
    }
    let elapsed = fact("up", Age.clock(from: session.startedAt, to: now.time))
    Rule.line(title, note: elapsed ?? Line(), width: width, sign: "━")
    flow(width: width) { state }
    // The ids, in one row where there is a screen for it.
    flow(width: width) {
      fact("channel", Untrusted.text(session.voiceChannelId), .dim)
      fact("guild", Untrusted.text(session.guildName ?? session.guildId), .dim)
      if width >= 100 {
        fact("text", Untrusted.text(session.textChannelId), .dim)
        fact("session", Untrusted.text(session.sessionId), .dim)
      }
    }
  }

  @Lines private var state: [Line] {
    let pending = session.pendingTurns
    PanelText.count(session.participantCount, "person", "people")
    if session.activeInputStreams > 0 { "\(session.activeInputStreams) speaking" }
    // The word of the state hides it while there is something else to tell.
    if session.realtime?.state?.connected == false, session.activity != .disconnected {
      "provider's link is down".styled(Style(Palette.error, bold: true))
    }
    if pending > 0 {
      PanelText.count(pending, "turn waits", "turns wait")
        .styled(pending > 2 ? Style(Palette.warning, bold: true) : .plain)
    }
    countdown("leaves if quiet", session.inactivityEndsAt)
    countdown("ends", session.maxEndsAt)
  }

  private func countdown(_ label: String, _ end: Timestamp?) -> Line? {
    guard let left = Age.seconds(from: now.time, to: end) else { return nil }
    return fact(
      label, left == 0 ? "now" : "in " + Amount.clock(left),
      left < Self.soonSeconds ? Style(Palette.warning, bold: true) : .plain)
  }
}
