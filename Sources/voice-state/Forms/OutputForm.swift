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

// MARK: - Status bars

extension OutputForm {
  func line(_ sessions: [VoiceSession], at now: Timestamp, link: String?) -> String {
    if sessions.isEmpty, link == "down" { return trouble(.temporary, "the link is down") }
    let all = sessions.map { Summary(session: $0, now: now) }
    let stale = link == "stale" || link == "down" ? link : nil
    let state = all.first?.activity.rawValue
    var text = all.first?.brief ?? ""
    if all.count > 1 { text += " · \(all.count) sessions" }
    if let stale, !all.isEmpty { text += " (\(stale))" }
    switch self {
    case .waybar:
      let usesTool = all.contains { !$0.tools.isEmpty }
      let tooltip = all.map(\.words).joined(separator: "\n")
      return BarBlock.waybar(
        text, alt: state ?? "none", tooltip: tooltip.isEmpty ? "no voice session" : tooltip,
        classes: [state ?? "none", stale, usesTool ? "tool" : nil].compactMap(\.self))
    case .i3:
      let colour: String? =
        switch all.first?.activity {
        case _ where stale != nil: "#9ca3af"
        case .speaking: "#16a34a"
        case .listening: "#60a5fa"
        case .processing: "#d97706"
        case .disconnected: "#dc2626"
        case .idle, nil: nil
        }
      return BarBlock.i3(text, short: state ?? "", colour: colour, name: "voice")
    default: return BarBlock.tmux(text)
    }
  }

  /// What stands there when nobody knows of the sessions.
  func trouble(_ status: ExitStatus, _ reason: String) -> String {
    BarBlock.trouble(status, reason, in: rawValue, of: "voice")
  }
}

extension [PastSession] {
  func lines(at now: Timestamp, guilds: [String: String]) -> [Line] {
    let titles = ["started", "ended", "took", "mode", "end", "guild", "session"].map(\.dim)
    let rows = map { session in
      let reason = Untrusted.text(session.reason, or: "-")
      let isBad = reason.holds("error") || reason.holds("lost")
      let guild = session.guild.flatMap { guilds[$0] }
      return [
        Line(session.startedAt.map { TimeText.absolute($0) } ?? "-"),
        Line(session.endedAt.map { TimeText.relative($0, now: now) } ?? "-"),
        Line(session.seconds.map { Amount.duration($0 * 1000) } ?? "-"),
        Line(Untrusted.text(session.mode, or: "-")), Line(reason, isBad ? .error : .plain),
        (Untrusted.text(guild) ?? Untrusted.text(session.guild, or: "-")).dim,
        Line(Untrusted.text(session.id, or: "-")),
      ]
    }
    let columns: [Grid.Column] = [.left, .left, .right, .left, .left, .left, .left]
    return rows.isEmpty ? [] : Grid.lines(columns, width: .max) { [titles] + rows }
  }

  func limited(since: Timestamp? = nil, count: Int?) -> [PastSession] {
    let young = filter { session in
      guard let since, let end = session.endedAt else { return true }
      return end >= since
    }
    return Array(young.prefix(count ?? young.count))
  }
}

enum NoSession {
  static let words = "No voice session."
  static let recent = 5
  static let origin =
    "there is one while the agent is in a voice channel: agent-call join lets it come to yours"
}
