import Agent
import Core
import Screen

struct RealtimePanel: Panel {
  static let name = "realtime", title = "Realtime provider"

  private static let most = 4

  private let realtime: VoiceRealtime, state: VoiceRealtimeState?, now: Now

  init?(_ session: VoiceSession, at now: Now) {
    guard let realtime = session.realtime else { return nil }
    (self.realtime, state, self.now) = (realtime, realtime.state, now)
  }

  var note: Line {
    switch state?.connected {
    case true: "connected".styled(.positive)
    case false: "disconnected".styled(.error)
    default: "no link".dim
    }
  }

  @Lines func lines(width: Int) -> [Line] {
    // While the link is up, the last error and close are history.
    let style: Style = state?.connected == true ? .dim : .error
    let close = [state?.lastCloseCode.map { String($0) }, Untrusted.text(state?.lastCloseReason)]
    let closed = close.compactMap { $0 }.joined(separator: " ")
    flow(width: width) { link }
    row("error", width, text: Untrusted.text(state?.lastError), style, most: 3)
    row("closed", width, text: closed, style, most: 2)
    row("turns", width) { turns }
    row("sound", width) {
      realtime.inputSampleRateHz.map { Self.kilohertz($0) + " in" }
      realtime.outputSampleRateHz.map { Self.kilohertz($0) + " out" }
      state?.utteranceCount.map { PanelText.count($0, "utterance") }
    }
    row("link", width) {
      fact("heard", Untrusted.text(state?.lastEventType))
      Untrusted.text(state?.model)
      Untrusted.text(state?.sessionId)?.dim
    }
    sent(width)
  }

  @Lines private var link: [Line] {
    let isActive = state?.activeResponseId != nil || state?.pendingResponseActive == true
    Line {
      switch state?.connected {
      case true: "● ".styled(.positive)
      case false: "✗ ".styled(.error)
      default: "○ ".dim
      }
      (Untrusted.words(realtime.provider) ?? "unknown").styled(.bold)
    }
    if state?.connected == true { fact("for", Age.clock(from: state?.connectedAt, to: now.time)) }
    fact("last event", Age.text(state?.lastEventAt, at: now))
    fact("response", Untrusted.words(state?.activeResponseStatus) ?? (isActive ? "active" : nil))
    if state?.setupComplete == false { "setting up".styled(.warning) }
  }

  /// What waits and what was overtaken; a warning where the dashboard warns.
  @Lines private var turns: [Line] {
    let pending = realtime.pendingTurns
    "\(pending) pending".styled(pending > 2 ? .warning : .plain)
    realtime.replySuperseded.map { "\($0) superseded".styled($0 > 0 ? .warning : .plain) }
    realtime.recentVoiceTurns.map { "\($0) recent" }
    if realtime.drainActive == true { "draining" }
    if realtime.coalesceActive == true { "coalescing" }
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
      Line {
        PanelText.age(at, now)
        "  → ".dim
        Untrusted.text(type, or: "?")
      }.cut(to: width)
    }
  }
}
