import Core
import Web

/// How long each step of a prompt is waited for (CONTRACT.md 4). All times are seconds of
/// `Clock.monotonic`.
struct PromptLimits {
  var blocker: String?
  var hasEarlier = false
  private let patience: Double?
  private var last: Double
  /// Since when the agent is idle, though a prompt was sent.
  private var idleSince: Double?
  /// Since when nothing is active, though this was, and nothing came.
  private var nullSince: Double?
  private var (isCut, mayHaveAnswered) = (false, false)
  private var abortedAt: Double?
  private(set) var isRestarted = false

  /// How long a busy agent is waited for; a gateway gives up by then, too.
  private static let usual = 300.0
  /// How long an idle agent may not begin with what was sent: usually, after a loss, and after
  /// something that may have been the answer.
  private static let (idle, idleAfterLoss, idleAfterText) = (30.0, 10.0, 2.0)
  /// How long nothing is active before an answer is over: one of a message; one of several, or
  /// with tools, between which it may be told too soon; and one that has no end.
  private static let (settle, pause, openEnd) = (0.2, 1.0, 5.0)
  private static let abort = 5.0

  init(patience: Double?, now: Double) {
    self.patience = patience
    last = now
  }

  mutating func sent(_ now: Double) { (last, blocker, hasEarlier) = (now, nil, false) }
  mutating func taken(_ now: Double) { (last, idleSince) = (now, nil) }
  mutating func lost() { isCut = true }
  mutating func abort(_ now: Double) { abortedAt = now }

  mutating func heard(_ now: Double) { (last, nullSince) = (now, nil) }

  mutating func working(_ now: Double) {
    nullSince = nil
    // It lives; who sets a limit wants to hear of it.
    if patience == nil { last = now }
  }

  /// `isShort`: whether it has said something that may have been the answer.
  mutating func idle(_ now: Double, isShort: Bool) {
    idleSince = idleSince ?? now
    mayHaveAnswered = isShort
  }

  mutating func busy(_ now: Double) { idleSince = nil }
  mutating func restarted() { (isRestarted, nullSince) = (true, nil) }

  /// Whether the answer is over, now that nothing is active: that may be told too soon.
  mutating func isOver(
    _ now: Double, isOpen: Bool, hasParts: Bool, mayCome: Bool
  ) -> Bool {
    guard let nullSince else {
      self.nullSince = now
      return false
    }
    let wait =
      mayCome ? Self.idleAfterLoss : isOpen ? Self.openEnd : hasParts ? Self.pause : Self.settle
    return now - nullSince >= min(wait, max(patience ?? wait, Self.settle))
  }

  func next(_ phase: JoelclawTurn.Phase) -> Double {
    if let abortedAt { return abortedAt + Self.abort }
    let limit = last + (patience ?? Self.usual)
    guard phase == .sent, let idleSince else { return limit }
    let idle =
      mayHaveAnswered ? Self.idleAfterText : isCut ? Self.idleAfterLoss : Self.idle
    return min(limit, idleSince + min(idle, patience ?? idle))
  }

  var words: String {
    let seconds = Latency.seconds(patience ?? Self.usual)
    if hasEarlier, blocker == nil {
      return "an earlier message may still wait there; nothing was sent in \(seconds) s"
    }
    guard let blocker else { return "nothing came for \(seconds) s" }
    let who = blocker.isEmpty ? "somebody" : blocker
    return "the agent is busy with a request of \(who); nothing was sent in \(seconds) s"
  }
}
