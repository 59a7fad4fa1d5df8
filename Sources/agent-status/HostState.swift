import Core
import Kinds
import Screen

/// How the agents at the terminals of a host are: of each session a line.
struct HostState {
  private let host: String
  private let session: String?
  private let call: ProgramCall
  private let form: StatusOptions.Form
  private let now = Timestamp.now()

  private static let order = ["waiting", "working", "idle", "unknown"]

  /// Asks tmux-attach(1), which makes blocks of bars itself.
  ///
  /// - Parameter place: `box:`, `box:site` or `.`.
  init(_ profile: String, at place: String, _ options: StatusOptions) throws(Failure) {
    form = options.form
    (host, session) = AgentPlace.parts(ofHost: place)
    if form.isBar, session != nil {
      throw Failure(profile, "a block is of a whole host: \(host):", .failure)
    }
    let output = form.isBar ? form.rawValue : "json"
    call = try ProgramCall(
      ["tmux-attach", "-l", "-o", output, "--max-time", options.limit, host])
  }

  /// Waits for what all of them say.
  static func wait(for states: [HostState]) { ProgramCall.wait(for: states.map(\.call)) }

  /// Whether the host was asked and has no session.
  var isEmpty: Bool { call.status == 1 || call.status == 0 && call.lines.isEmpty }

  /// What is shown, as of `AgentState`.
  var shown: AgentState.Shown {
    if form.isBar {
      return AgentState.Shown(text: call.lines.joined(separator: "\n") + "\n")
    }
    if call.status > 1 {
      let words = call.status == 77 ? "refused" : "unreachable"
      let text = "○ \(words)" + (call.faults.last.map { ": \(Visible.masked($0))" } ?? "")
      return AgentState.Shown(text: text + "\n", status: call.status)
    }
    let rows = call.lines.compactMap { try? JSONValue.parse(text: $0) }.filter {
      session == nil || $0["name"]?.string == session && $0["label"] == nil && $0["process"] == nil
    }
    let states = rows.map { $0["state"]?.string ?? "unknown" }
    let kinds = Self.order.filter(states.contains)
    let head = kinds.map { kind in "\(states.count { $0 == kind }) \(kind)" }
    let sign = kinds.first == "waiting" || kinds.isEmpty ? "○" : "●"
    let none = "no agent" + (session.map { " in session \(Visible.masked($0))" } ?? "")
    var lines = ["\(sign) " + (kinds.isEmpty ? none : head.joined(separator: " · "))]
    if kinds.isEmpty {
      lines.append("claude in tmux makes one: tmux-attach \(Visible.masked(host))")
    }
    if form != .small {
      if kinds.first == "waiting" {
        let name = host == "." ? "." : "\(host):"
        lines.append("agent-approve -p \(Visible.masked(name)) -i answers what waits")
      }
      let width = min(rows.map { ($0["name"]?.string ?? "").count }.max() ?? 0, 20)
      lines += rows.map { line($0, width) }
    }
    return AgentState.Shown(
      text: lines.joined(separator: "\n") + "\n", status: kinds.isEmpty ? 1 : 0)
  }

  private func line(_ row: JSONValue, _ width: Int) -> String {
    let name = Plain.line(row["name"]?.string ?? "", limit: 60)
    let padding = String(repeating: " ", count: max(0, width - name.count))
    var words = row["state"]?.string ?? "unknown"
    if let since = row["since"]?.string.flatMap({ Timestamp(rfc3339: $0) }) {
      words += " for " + AgentState.words(of: now.seconds - since.seconds)
    }
    if words == "unknown", let agent = row["agent"]?.string { words += " (\(agent))" }
    if let reason = row["reason"]?.string { words += ": " + Plain.line(reason, limit: 200) }
    if let label = row["label"]?.string { words += " (--label \(Plain.line(label, limit: 60)))" }
    if row["process"] != nil { words += " (outside tmux)" }
    return "\(name)\(padding)  \(words)"
  }
}
