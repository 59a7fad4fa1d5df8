import Agent
import CLibc
import Core
import Screen

/// In which form sessions are printed: the argument of `--output`.
enum OutputForm: String, CaseIterable, Sendable {
  case text
  /// Each session's own bytes, one a line.
  case json
  case line
  /// An object for waybar(5), custom module with `return-type` json.
  case waybar
  /// A few words for the status line of tmux(1).
  case tmux
  /// A block of the i3bar protocol.
  case i3

  var isBar: Bool { self == .waybar || self == .tmux || self == .i3 }
}

/// A session's or an action's own bytes as a line.
enum JSONLines {
  static func write(_ bytes: [UInt8], to writer: RecordWriter) throws(WriteFailure) {
    guard isatty(1) == 1 else {
      try writer.write(bytes)
      return try writer.newline()
    }
    var out = ByteBuffer()
    bytes.withUnsafeBytes { JSONQuote.appendVisible(json: $0, to: &out) }
    try writer.writeLine(out.bytes)
  }
}

enum BarForm {
  static func line(
    _ form: OutputForm, _ sessions: [VoiceSession], at now: Timestamp, link: String?
  ) -> String {
    if sessions.isEmpty, link == "down" { return trouble(form, .temporary, "the link is down") }
    let all = sessions.map { Summary($0, at: now) }
    let isStale = link == "stale" || link == "down"
    switch form {
    case .waybar: return waybar(all, isStale ? link : nil)
    case .i3: return i3(all, isStale ? link : nil)
    default: return tmux(all, isStale ? link : nil)
    }
  }

  /// What stands there when nobody knows of the sessions, as agent-status(1) has it.
  static func trouble(_ form: OutputForm, _ status: ExitStatus, _ reason: String) -> String {
    let state = BarBlock.trouble(status)
    let reason = Visible.line(reason)
    switch form {
    case .waybar:
      return BarBlock.waybar(
        "○ \(state)", alt: state, tooltip: "○ \(state): \(reason)", classes: [state])
    case .i3: return i3("○ \(state)", "○", BarBlock.troubleColour)
    case .tmux: return "#[fg=\(BarBlock.troubleColour)]○#[default] \(state)"
    case .text, .json, .line: return "○ \(state): \(reason)"
    }
  }

  private static func text(_ all: [Summary], _ stale: String?) -> String {
    guard let first = all.first else { return "" }
    var text = first.brief
    if all.count > 1 { text += " · \(all.count) sessions" }
    return stale.map { "\(text) (\($0))" } ?? text
  }

  /// An object of waybar-custom(5): empty text hides the module.
  private static func waybar(_ all: [Summary], _ stale: String?) -> String {
    let state = all.first?.activity.rawValue ?? "none"
    var classes = [state]
    if let stale { classes.append(stale) }
    if all.contains(where: { !$0.tools.isEmpty }) { classes.append("tool") }
    let tooltip = all.map(\.words).joined(separator: "\n")
    return BarBlock.waybar(
      text(all, stale), alt: state, tooltip: tooltip.isEmpty ? "no voice session" : tooltip,
      classes: classes)
  }

  /// A block of the i3bar protocol, as i3blocks takes it with `format=json`.
  private static func i3(_ all: [Summary], _ stale: String?) -> String {
    let colour: String? =
      if stale != nil {
        "#9ca3af"
      } else {
        switch all.first?.activity {
        case .speaking: "#16a34a"
        case .listening: "#60a5fa"
        case .processing: "#d97706"
        case .disconnected: "#dc2626"
        case .idle, nil: nil
        }
      }
    return i3(text(all, stale), all.first?.activity.rawValue ?? "", colour)
  }

  private static func i3(_ text: String, _ short: String, _ colour: String?) -> String {
    BarBlock.i3(text, short: short, colour: colour, name: "voice")
  }

  private static func tmux(_ all: [Summary], _ stale: String?) -> String {
    BarBlock.tmux(text(all, stale))
  }
}
