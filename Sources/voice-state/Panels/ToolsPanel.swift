import Core
import Screen

/// The calls of tools: running, done or failed, how long, with what, what came out.
struct ToolsPanel: Panel {
  static let name = "tools"
  static let title = "Tool calls"

  /// A call that takes longer is slow, in milliseconds.
  static let slowMs = 3000.0
  /// From here on the arguments stand in the call's own row.
  private static let wide = 50
  /// The most calls that are shown.
  private static let most = 6

  private let calls: [VoiceToolCall]
  private let servers: [String: String]
  private let now: Timestamp

  init?(_ session: VoiceSession, at now: Timestamp) {
    guard !session.toolCalls.isEmpty else { return nil }
    calls = session.toolCalls
    self.now = now
    var servers: [String: String] = [:]
    for tool in session.brainTools { if let name = tool.name { servers[name] = tool.serverName } }
    self.servers = servers
  }

  var note: Line {
    var note = Line("\(calls.count)")
    let running = calls.count { $0.state == .running }
    let failed = calls.count { $0.state == .failed }
    let slow = calls.count { ($0.runtimeMs ?? 0) > Self.slowMs }
    if running > 0 { note.add(", \(running) running", Style(Palette.warning)) }
    if failed > 0 { note.add(", \(failed) failed", Style(Palette.error)) }
    if slow > 0 { note.add(", \(slow) slow", Style(Palette.warning)) }
    return note
  }

  func lines(width: Int) -> [Line] {
    var grid = Grid([.left, .giving, .right, .left, .giving], gap: 1)
    let shown = shown
    let isWide = width >= Self.wide
    for call in shown {
      grid.add([
        mark(call), name(call), time(call), remark(call),
        isWide ? Line(arguments(call) ?? "", .dim) : Line(),
      ])
    }
    return zip(grid.lines(width: width), shown).flatMap { row, call in
      let outcome = outcome(call, arguments: isWide ? nil : arguments(call))
      return outcome.spans.isEmpty
        ? [row] : [row, Line([Line.Span("  ")] + outcome.spans).cut(to: width)]
    }
  }

  /// The last calls; one that still runs is never left out.
  private var shown: [VoiceToolCall] {
    let last = calls.suffix(Self.most)
    let running = calls.dropLast(Self.most).filter { $0.state == .running }.suffix(2)
    return Array(running + last.dropFirst(running.count))
  }

  private func mark(_ call: VoiceToolCall) -> Line {
    switch call.state {
    case .running: Line("◌", Style(Palette.warning))
    case .ok: Line("✓", Style(Palette.positive))
    case .failed: Line("✗", Style(Palette.error))
    }
  }

  private func name(_ call: VoiceToolCall) -> Line {
    var line = Line(
      Fit.truncate(Outside.text(call.toolName, or: "?"), to: 24),
      call.state == .failed ? Style(Palette.error, bold: true) : .bold)
    let server = call.serverName ?? call.toolName.flatMap { servers[$0] }
    let type = call.toolType == "function" ? nil : call.toolType
    if let place = Outside.text(server ?? type) {
      line.add("@" + Fit.truncate(place, to: 16), .dim)
    }
    return line
  }

  private func time(_ call: VoiceToolCall) -> Line {
    if call.state == .running {
      return Line(Age.span(from: call.startedAt, to: now) ?? "", Style(Palette.warning))
    }
    guard let time = call.runtimeMs, time >= 0 else { return Line("-", .dim) }
    return Line(Amount.duration(time), time > Self.slowMs ? Style(Palette.warning) : .plain)
  }

  private func remark(_ call: VoiceToolCall) -> Line {
    if call.state == .running { return Line("running", Style(Palette.warning)) }
    return (call.runtimeMs ?? 0) > Self.slowMs ? Line("slow", Style(Palette.warning)) : Line()
  }

  private func arguments(_ call: VoiceToolCall) -> String? {
    Outside.value(call.arguments, unwraps: true)
  }

  /// What came out, with the arguments before it where they have no room above.
  private func outcome(_ call: VoiceToolCall, arguments: String?) -> Line {
    var line = Line()
    if let arguments { line.add(arguments + " ", .dim) }
    if call.state == .failed {
      let error = Outside.text(call.error) ?? Outside.value(call.outputSummary) ?? "failed"
      line.add("! " + error, Style(Palette.error))
    } else if let output = Outside.value(call.outputSummary) {
      line.add("→ ", .dim)
      line.add(output)
    }
    return line
  }
}
