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
    switch self {
    case .waybar:
      let tooltip = sessions.map(Self.words).joined(separator: "\n")
      return BarBlock.waybar(
        text, alt: state, tooltip: tooltip.isEmpty ? "no session" : tooltip,
        classes: kinds.isEmpty ? [state] : kinds.map(\.rawValue))
    case .i3: return i3(text, state, kinds.first.flatMap(Self.colour))
    case .tmux: return text.isEmpty ? "" : tmux("●", kinds.first.flatMap(Self.colour), text)
    default: return text.isEmpty ? "no session" : text
    }
  }

  func trouble(_ failure: HostFailure) -> String {
    trouble(ExitStatus(rawValue: failure.exitStatus) ?? .failure, failure.reason)
  }

  func trouble(_ status: ExitStatus, _ reason: String) -> String {
    let state = BarBlock.trouble(status)
    let text = "○ \(state)"
    let words = "\(text): \(Visible.line(reason))"
    switch self {
    case .waybar: return BarBlock.waybar(text, alt: state, tooltip: words, classes: [state])
    case .i3: return i3(text, "○", BarBlock.troubleColour)
    case .tmux: return tmux("○", BarBlock.troubleColour, state)
    default: return words
    }
  }

  private func i3(_ text: String, _ short: String, _ colour: String?) -> String {
    BarBlock.i3(text, short: short, colour: colour, name: "agents")
  }

  private func tmux(_ sign: String, _ colour: String?, _ text: String) -> String {
    (colour.map { "#[fg=\($0)]\(sign)#[default] " } ?? "\(sign) ") + BarBlock.tmux(text)
  }

  private static func words(_ session: TmuxSession) -> String {
    var words = Plain.line(session.name, limit: 200) + ": " + session.state.kind.rawValue
    if let since = session.state.since {
      words += " since " + TimeText.absolute(since, zone: TimeText.local)
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
