import Core
import Screen
import Shell

/// In which form the list is printed: the argument of `--output`.
enum ListForm: String, CaseIterable, Sendable {
  case json, table, tsv
  case line
  case waybar, tmux, i3

  var rows: RowOutput.Form? { RowOutput.Form(rawValue: rawValue) }

  var isBar: Bool { rows == nil && self != .line }
}

extension ListForm {
  /// The list in a few words.
  func line(_ sessions: [TmuxSession]) -> String {
    let kinds = AgentState.Kind.allCases.filter { kind in
      sessions.contains { $0.state.kind == kind }
    }
    let text = kinds.map { kind in
      "\(sessions.count { $0.state.kind == kind }) \(kind.rawValue)"
    }.joined(separator: " · ")
    let state = kinds.first?.rawValue ?? "none"
    let colour = kinds.first.flatMap(Self.colour)
    switch self {
    case .waybar:
      let tooltip = sessions.map(Self.words).joined(separator: "\n")
      return BarBlock.waybar(
        text, alt: state, tooltip: tooltip.isEmpty ? "no session" : tooltip,
        classes: kinds.isEmpty ? [state] : kinds.map(\.rawValue))
    case .i3: return BarBlock.i3(text, short: state, colour: colour, name: "agents")
    case .tmux where text.isEmpty: return ""
    case .tmux: return (colour.map { "#[fg=\($0)]●#[default] " } ?? "● ") + BarBlock.tmux(text)
    default: return text.isEmpty ? "no session" : text
    }
  }

  func trouble(_ failure: HostFailure) -> String {
    trouble(ExitStatus(rawValue: failure.exitStatus) ?? .failure, failure.reason)
  }

  func trouble(_ status: ExitStatus, _ reason: String) -> String {
    BarBlock.trouble(status, reason, in: rawValue, of: "agents")
  }

  private static func words(_ session: TmuxSession) -> String {
    var words = Plain.line(session.name, limit: 200) + ": " + session.state.kind.rawValue
    if let since = session.state.since {
      words += " since " + TimeText.absolute(since)
    }
    if let reason = session.state.reason { words += ": " + Plain.line(reason, limit: 200) }
    return words
  }

  private static func colour(_ kind: AgentState.Kind) -> String? {
    switch kind {
    case .waiting: "#d97706"
    case .working: "#16a34a"
    case .idle: nil
    case .unknown: "#9ca3af"
    }
  }
}
