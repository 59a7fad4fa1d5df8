import Agent
import Core
import Records
import Screen

/// The session itself: what it is doing, since when, until when, where.
struct HeadPanel: Panel {
  static let name = "session"
  static let title = "Session"
  static let isHead = true

  /// An end that is nearer than this is worth a colour.
  private static let soonSeconds: Int64 = 60

  private let session: VoiceSession
  private let now: Now

  init?(_ session: VoiceSession, at now: Now) {
    self.session = session
    self.now = now
  }

  /// How an activity looks wherever it is shown.
  static func style(of activity: VoiceActivity) -> Style {
    switch activity {
    case .speaking: Style(Palette.positive, bold: true)
    case .processing: Style(Palette.warning, bold: true)
    case .listening: Style(Palette.colour(of: .asr), bold: true)
    case .disconnected: Style(Palette.error, bold: true)
    case .idle: .bold
    }
  }

  func lines(width: Int) -> [Line] {
    var title = Line()
    let activity = session.activity
    title.add(activity == .disconnected ? "✗ " : activity == .idle ? "○ " : "● ", style)
    title.add(activity.word, style)
    if let mode = Untrusted.text(session.modeLabel) {
      title.add(" · ", .dim)
      title.add(mode)
    }
    var note = Line()
    if let elapsed = Age.clock(from: session.startedAt, to: now.time) {
      note.add("up ", .dim)
      note.add(elapsed)
    }
    return [Rule.line(title, note: note, width: width, sign: "━")]
      + state.lines(width: width) + places(width).lines(width: width)
  }

  private var style: Style { Self.style(of: session.activity) }

  private var state: FactFlow {
    var facts = FactFlow()
    let people = session.participantCount
    facts.add(people == 1 ? "1 person" : "\(people) people")
    if session.activeInputStreams > 0 { facts.add("\(session.activeInputStreams) speaking") }
    // The word of the state hides it while there is something else to tell.
    if session.realtime?.state?.connected == false, session.activity != .disconnected {
      facts.add("provider's link is down", Style(Palette.error, bold: true))
    }
    let pending = session.pendingTurns
    if pending > 0 {
      facts.add(
        pending == 1 ? "1 turn waits" : "\(pending) turns wait",
        pending > 2 ? Style(Palette.warning, bold: true) : .plain)
    }
    countdown(&facts, "leaves if quiet", session.inactivityEndsAt)
    countdown(&facts, "ends", session.maxEndsAt)
    return facts
  }

  private func countdown(_ facts: inout FactFlow, _ label: String, _ end: Timestamp?) {
    guard let left = Age.seconds(from: now.time, to: end) else { return }
    facts.add(
      label, left == 0 ? "now" : "in " + Amount.clock(left),
      left < Self.soonSeconds ? Style(Palette.warning, bold: true) : .plain)
  }

  /// The ids, in one row where there is a screen for it.
  private func places(_ width: Int) -> FactFlow {
    var facts = FactFlow()
    var ids = [("channel", session.voiceChannelId), ("guild", session.guildId)]
    if width >= 100 { ids += [("text", session.textChannelId), ("session", session.sessionId)] }
    for (label, id) in ids {
      if let id = Untrusted.text(id) { facts.add(label, id, .dim) }
    }
    return facts
  }
}
