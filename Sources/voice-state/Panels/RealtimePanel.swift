import Agent
import Core
import Screen

/// The provider that the session speaks through, and the link to it.
struct RealtimePanel: Panel {
  static let name = "realtime"
  static let title = "Realtime provider"

  private static let most = 4

  private let realtime: VoiceRealtime
  private let state: VoiceRealtimeState?
  private let now: Now

  init?(_ session: VoiceSession, at now: Now) {
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
    var rows = Labels(width: width)
    addFaults(&rows)
    rows.add("turns", turns)
    rows.add("sound", sound)
    rows.add("link", details)
    return link.lines(width: width) + rows.lines + sent(width)
  }

  private var link: FactFlow {
    var facts = FactFlow()
    var line: Line
    switch state?.connected {
    case true: line = Line("● ", Style(Palette.positive))
    case false: line = Line("✗ ", Style(Palette.error))
    default: line = Line("○ ", .dim)
    }
    line.add(Untrusted.words(realtime.provider) ?? "unknown", .bold)
    facts.add(line)
    if state?.connected == true {
      facts.add("for", Age.clock(from: state?.connectedAt, to: now.time))
    }
    facts.add("last event", Age.text(state?.lastEventAt, at: now))
    let isActive = state?.activeResponseId != nil || state?.pendingResponseActive == true
    facts.add(
      "response", Untrusted.words(state?.activeResponseStatus) ?? (isActive ? "active" : nil))
    if state?.setupComplete == false { facts.add("setting up", Style(Palette.warning)) }
    return facts
  }

  /// What waits and what was overtaken; a warning where the dashboard warns.
  private var turns: FactFlow {
    var facts = FactFlow()
    let pending = realtime.pendingTurns
    facts.add("\(pending) pending", pending > 2 ? Style(Palette.warning) : .plain)
    if let count = realtime.replySuperseded {
      facts.add("\(count) superseded", count > 0 ? Style(Palette.warning) : .plain)
    }
    facts.add(realtime.recentVoiceTurns.map { "\($0) recent" })
    if realtime.drainActive == true { facts.add("draining") }
    if realtime.coalesceActive == true { facts.add("coalescing") }
    return facts
  }

  /// The last error and close; while the link is up they are history.
  private func addFaults(_ rows: inout Labels) {
    let style = state?.connected == true ? Style.dim : Style(Palette.error)
    if let error = Untrusted.text(state?.lastError) {
      rows.add("error", text: error, style, rows: 3)
    }
    let close = [state?.lastCloseCode.map { String($0) }, Untrusted.text(state?.lastCloseReason)]
    let closed = close.compactMap { $0 }.joined(separator: " ")
    if !closed.isEmpty { rows.add("closed", text: closed, style, rows: 2) }
  }

  private var sound: FactFlow {
    var facts = FactFlow()
    facts.add(realtime.inputSampleRateHz.map { Self.kilohertz($0) + " in" })
    facts.add(realtime.outputSampleRateHz.map { Self.kilohertz($0) + " out" })
    facts.add(state?.utteranceCount.map { PanelText.count($0, "utterance") })
    return facts
  }

  private var details: FactFlow {
    var facts = FactFlow()
    facts.add("heard", Untrusted.text(state?.lastEventType))
    facts.add(Untrusted.text(state?.model))
    facts.add(Untrusted.text(state?.sessionId), .dim)
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
      line.add(Untrusted.text(type, or: "?"))
      return line.cut(to: width)
    }
  }
}
