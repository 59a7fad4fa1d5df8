import Agent
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
  private let now: Now

  init?(_ session: VoiceSession, at now: Now) {
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
      Fit.truncate(Untrusted.text(call.toolName, or: "?"), to: 24),
      call.state == .failed ? Style(Palette.error, bold: true) : .bold)
    let server = call.serverName ?? call.toolName.flatMap { servers[$0] }
    let type = call.toolType == "function" ? nil : call.toolType
    if let place = Untrusted.text(server ?? type) {
      line.add("@" + Fit.truncate(place, to: 16), .dim)
    }
    return line
  }

  private func time(_ call: VoiceToolCall) -> Line {
    if call.state == .running {
      return Line(Age.span(from: call.startedAt, to: now.time) ?? "", Style(Palette.warning))
    }
    guard let time = call.runtimeMs, time >= 0 else { return Line("-", .dim) }
    return Line(Amount.duration(time), time > Self.slowMs ? Style(Palette.warning) : .plain)
  }

  private func remark(_ call: VoiceToolCall) -> Line {
    if call.state == .running { return Line("running", Style(Palette.warning)) }
    return (call.runtimeMs ?? 0) > Self.slowMs ? Line("slow", Style(Palette.warning)) : Line()
  }

  private func arguments(_ call: VoiceToolCall) -> String? {
    Untrusted.value(call.arguments, unwraps: true)
  }

  /// What came out, with the arguments before it where they have no room above.
  private func outcome(_ call: VoiceToolCall, arguments: String?) -> Line {
    var line = Line()
    if let arguments { line.add(arguments + " ", .dim) }
    if call.state == .failed {
      let error = Untrusted.text(call.error) ?? Untrusted.value(call.outputSummary) ?? "failed"
      line.add("! " + error, Style(Palette.error))
    } else if let output = Untrusted.value(call.outputSummary) {
      line.add("→ ", .dim)
      line.add(output)
    }
    return line
  }
}

/// The tool servers: whether they answer, what they offer, what went wrong.
struct MCPPanel: Panel {
  static let name = "mcp"
  static let title = "MCP servers"

  private static let most = 40

  private let servers: [VoiceMCPServer]
  private let now: Now

  init?(_ session: VoiceSession, at now: Now) {
    guard !session.mcpStatus.isEmpty else { return nil }
    servers = Array(session.mcpStatus.prefix(Self.most))
    self.now = now
  }

  var note: Line {
    let up = servers.count { $0.connected == true }
    let style = up == servers.count ? Style.plain : Style(Palette.error)
    return Line("\(up) of \(servers.count) up", style)
  }

  func lines(width: Int) -> [Line] {
    let isWide = width >= 72
    var grid = Grid([.left, .right, .left, .giving])
    for server in servers {
      grid.add([
        head(server), count(server), call(server), isWide ? tools(server, width) : Line(),
      ])
    }
    var lines: [Line] = []
    for (row, server) in zip(grid.lines(width: width), servers) {
      lines.append(row)
      if !isWide, !server.tools.isEmpty {
        var line = Line("  ")
        line.add(tools(server, width))
        lines.append(line.cut(to: width))
      }
      lines += fault(server, width)
    }
    return lines
  }

  private func head(_ server: VoiceMCPServer) -> Line {
    let isUp = server.connected == true
    var line = Line(isUp ? "● " : "✗ ", Style(isUp ? Palette.positive : Palette.error))
    line.add(Fit.truncate(Untrusted.text(server.serverName, or: "(no name)"), to: 20))
    return line
  }

  private func count(_ server: VoiceMCPServer) -> Line {
    let count = server.tools.count
    return Line(
      count == 0 ? "no tools" : PanelText.count(count, "tool"), count == 0 ? .dim : .plain)
  }

  private func call(_ server: VoiceMCPServer) -> Line {
    if let age = Age.text(server.lastCallAt, at: now) { return Line("called \(age)") }
    let since = Age.text(server.lastConnectedAt, at: now)
    return Line(since.map { "since \($0)" } ?? "never up", .dim)
  }

  private func tools(_ server: VoiceMCPServer, _ cells: Int) -> Line {
    let names = server.tools.prefix(Self.most).compactMap { Untrusted.text($0.name) }
    return Line(names.joined(separator: ", "), .dim).cut(to: cells)
  }

  /// An error of a server that is up again is history.
  private func fault(_ server: VoiceMCPServer, _ width: Int) -> [Line] {
    guard let error = server.lastError else { return [] }
    let isPast = server.connected == true
    return PanelText.paragraph(
      error, isPast ? .dim : Style(Palette.error),
      lead: Line(isPast ? "  last error " : "  ", .dim),
      width: width, most: 2)
  }
}
