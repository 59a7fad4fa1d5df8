import Core
import Screen
import Shell

/// The one line that tells a person about the link, and leaves the screen as it
/// was: before there is a session on the line of the cursor, later on the last row.
///
/// It is drawn only when it changes.
struct StatusLine {
  enum State: Equatable {
    case connecting
    /// Lost: the reason, the number of the next try, and in how many seconds it is made.
    case waiting(why: String, attempt: Int, seconds: Int)
    case trying(why: String, attempt: Int)
    /// What `~?` asks for.
    case escapes
  }

  private let host: String
  private let isSilent: Bool
  private var shown: String?
  private var isOnLastRow = false

  init(host: String, isSilent: Bool) {
    (self.host, self.isSilent) = (host, isSilent)
  }

  static func text(_ state: State, host: String) -> String {
    let host = Visible.line(host)
    return switch state {
    case .connecting: "\(host): connecting"
    case .waiting(let why, let attempt, let seconds):
      "\(host): reconnecting in \(seconds) s (try \(attempt); Enter: now, ~.: end): "
        + Visible.line(why)
    case .trying(let why, let attempt):
      "\(host): reconnecting (try \(attempt); ~.: end): \(Visible.line(why))"
    case .escapes: "~.  end   ~Ctrl-Z  suspend   ~~  send ~   ~?  this list"
    }
  }

  /// Cursor and looks come back (DECSC, DECRC); what the far end left open is broken off first.
  static func onLastRow(_ text: String, _ size: WindowSize, isInSequence: Bool) -> String {
    (isInSequence ? "\u{18}" : "")
      + "\u{1b}7\u{1b}[?6l\u{1b}(B\u{0f}\u{1b}[\(size.rows);1H\u{1b}[0;7m"
      + fitted(text, size.columns - 1) + "\u{1b}[0m\u{1b}[K\u{1b}8"
  }

  static func here(_ text: String, _ size: WindowSize) -> String {
    "\r" + fitted(text, size.columns - 1) + "\u{1b}[K"
  }

  private static func fitted(_ text: String, _ columns: Int) -> String {
    Fit.truncate(text, to: max(1, columns))
  }

  var isShown: Bool { shown != nil }

  mutating func show(
    _ state: State, _ size: WindowSize, onLastRow: Bool, isInSequence: Bool
  ) -> String {
    if isSilent && state != .escapes { return "" }
    let text = Self.text(state, host: host)
    if text == shown { return "" }
    shown = text
    isOnLastRow = onLastRow
    return onLastRow
      ? Self.onLastRow(text, size, isInSequence: isInSequence) : Self.here(text, size)
  }

  mutating func clear(_ size: WindowSize) -> String {
    defer { shown = nil }
    guard shown != nil else { return "" }
    return isOnLastRow
      ? Self.onLastRow("", size, isInSequence: false) : Self.here("", size)
  }

  /// It is drawn again in any case: the screen is another one.
  mutating func forget() { shown = nil }

  /// When the countdown to a time shows another second.
  func nextChange(until: Double, now: Double) -> Double {
    if isSilent { return until }
    return until - max(0, (until - now).rounded(.up) - 1)
  }
}
