import Core
import Shell

/// What the status line shows now, so that it is drawn only when it changes.
struct SeatStatus {
  private let host: String
  private let isSilent: Bool
  private var shown: String?
  private var isOnLastRow = false

  init(host: String, isSilent: Bool) {
    self.host = host
    self.isSilent = isSilent
  }

  /// Whether it is on the screen.
  var isShown: Bool { shown != nil }

  /// Shows a state.
  ///
  /// - Returns: what is to be written, which is nothing when it is shown already.
  mutating func show(
    _ state: StatusLine.State, _ size: WindowSize, onLastRow: Bool, isInSequence: Bool
  ) -> String {
    if isSilent && state != .escapes { return "" }
    let text = StatusLine.text(state, host: host)
    if text == shown { return "" }
    shown = text
    isOnLastRow = onLastRow
    return onLastRow
      ? StatusLine.onLastRow(text, size, isInSequence: isInSequence)
      : StatusLine.here(text, size)
  }

  /// Takes it away.
  mutating func clear(_ size: WindowSize) -> String {
    defer { shown = nil }
    guard shown != nil else { return "" }
    return isOnLastRow
      ? StatusLine.onLastRow("", size, isInSequence: false) : StatusLine.clearHere
  }

  /// The far end draws over it.
  mutating func forget() { shown = nil }

  /// It is drawn again in any case: the screen is another one.
  mutating func refresh() { shown = nil }

  /// When the countdown to a time shows another second.
  func nextChange(until: Double, now: Double) -> Double {
    if isSilent { return until }
    return until - max(0, (until - now).rounded(.up) - 1)
  }
}
