import Core
import Screen

/// The provider that the session speaks through, and the link to it.
struct RealtimePanel: Panel {
  static let name = "realtime"
  static let title = "Realtime provider"

  private static let most = 4

  private let realtime: VoiceRealtime
  private let state: VoiceRealtimeState?
  private let now: Timestamp

  init?(_ session: VoiceSession, at now: Timestamp) {
    guard let realtime = session.realtime else { return nil }
    self.realtime = realtime
    state = realtime.state
    self.now = now
  }

  var note: Line {
    switch state?.connected {
    case true: Line("connected", Style(Palette.positive))
    case false: Line("disconnected", Style(Palette.error))
    default: Line("no link", .dim)
    }
  }

  func lines(width: Int) -> [Line] {
    link.lines(width: width) + faults(width) + work.lines(width: width)
      + details.lines(width: width) + sent(width)
  }

  private var link: FactFlow {
    var facts = FactFlow()
    var line: Line
    switch state?.connected {
    case true: line = Line("● ", Style(Palette.positive))
    case false: line = Line("✗ ", Style(Palette.error))
    default: line = Line("○ ", .dim)
    }
    line.add(PanelText.words(realtime.provider) ?? "unknown", .bold)
    facts.add(line)
    if state?.connected == true {
      facts.add("for", Age.clock(from: state?.connectedAt, to: now))
    }
    facts.add("last event", Age.text(state?.lastEventAt, at: now))
    let isActive = state?.activeResponseId != nil || state?.pendingResponseActive == true
    facts.add(
      "response", PanelText.words(state?.activeResponseStatus) ?? (isActive ? "active" : nil))
    if state?.setupComplete == false { facts.add("setting up", Style(Palette.warning)) }
    return facts
  }

  /// What waits and what was overtaken; a warning where the dashboard warns.
  private var work: FactFlow {
    var facts = FactFlow()
    let pending = realtime.pendingTurns
    facts.add("pending", "\(pending)", pending > 2 ? Style(Palette.warning) : .plain)
    if let superseded = realtime.replySuperseded {
      facts.add(
        "superseded", "\(superseded)", superseded > 0 ? Style(Palette.warning) : .plain)
    }
    facts.add("recent turns", realtime.recentVoiceTurns.map { String($0) })
    if realtime.drainActive == true { facts.add("draining", Style(Palette.warning)) }
    if realtime.coalesceActive == true { facts.add("coalescing") }
    return facts
  }

  /// The last error and close; while the link is up they are history.
  private func faults(_ width: Int) -> [Line] {
    let isPast = state?.connected == true
    let style = isPast ? Style.dim : Style(Palette.error)
    var lines: [Line] = []
    if let error = state?.lastError {
      lines += PanelText.paragraph(
        error, style, lead: Line(isPast ? "last error " : "✗ ", style), width: width, most: 3)
    }
    if state?.lastCloseCode != nil || state?.lastCloseReason != nil {
      let code = state?.lastCloseCode.map { "\($0) " } ?? ""
      lines += PanelText.paragraph(
        code + (state?.lastCloseReason ?? ""), style,
        lead: Line(isPast ? "last close " : "closed ", .dim), width: width, most: 2)
    }
    return lines
  }

  private var details: FactFlow {
    var facts = FactFlow()
    facts.add("in", realtime.inputSampleRateHz.map { Self.kilohertz($0) })
    facts.add("out", realtime.outputSampleRateHz.map { Self.kilohertz($0) })
    facts.add("heard", Outside.text(state?.lastEventType))
    facts.add("model", Outside.text(state?.model))
    facts.add("utterances", state?.utteranceCount.map { String($0) })
    facts.add("session", Outside.text(state?.sessionId))
    return facts
  }

  /// A rate without needless zeros: `24 kHz`, `44.1 kHz`.
  static func kilohertz(_ hertz: Int) -> String {
    let text = Amount.fixed(Double(hertz) / 1000, 1)
    return (text.hasSuffix(".0") ? String(text.dropLast(2)) : text) + " kHz"
  }

  /// What was sent to the provider, newest first.
  private func sent(_ width: Int) -> [Line] {
    var events = (state?.recentOutboundEvents ?? []).suffix(Self.most).map { ($0.at, $0.type) }
    if events.isEmpty, let type = state?.lastOutboundEventType {
      events = [(state?.lastOutboundEventAt, type)]
    }
    return events.reversed().map { at, type in
      var line = PanelText.age(at, now)
      line.add("  → ", .dim)
      line.add(Outside.text(type, or: "?"))
      return line.cut(to: width)
    }
  }
}
