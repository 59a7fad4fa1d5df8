import Agent
import Core
import Screen

struct ToolsPanel: Panel {
  static let name = "tools", title = "Tool calls"

  /// A call that takes longer is slow, in milliseconds.
  static let slowMs = 3000.0
  private static let wide = 50
  private static let most = 6

  private let calls: [VoiceToolCall]
  private let servers: [String: String]
  private let now: Now

  init?(_ session: VoiceSession, at now: Now) {
    guard !session.toolCalls.isEmpty else { return nil }
    var servers: [String: String] = [:]
    for tool in session.brainTools { if let name = tool.name { servers[name] = tool.serverName } }
    (calls, self.servers, self.now) = (session.toolCalls, servers, now)
  }

  var note: Line {
    let running = calls.count { $0.state == .running }
    let failed = calls.count { $0.state == .failed }
    let slow = calls.count { ($0.runtimeMs ?? 0) > Self.slowMs }
    return Line {
      "\(calls.count)"
      if running > 0 { ", \(running) running".styled(.warning) }
      if failed > 0 { ", \(failed) failed".styled(.error) }
      if slow > 0 { ", \(slow) slow".styled(.warning) }
    }
  }

  @Lines func lines(width: Int) -> [Line] {
    let shown = shown
    let isWide = width >= Self.wide
    let rows = Grid.lines([.left, .giving, .right, .left, .giving], gap: 1, width: width) {
      shown.map { call in
        [
          mark(call), name(call), time(call), remark(call),
          isWide ? (arguments(call) ?? "").dim : Line(),
        ]
      }
    }
    for (row, call) in zip(rows, shown) {
      row
      let outcome = outcome(call, arguments: isWide ? nil : arguments(call))
      if !outcome.isEmpty { Line([Line.Span("  ")] + outcome.flatMap(\.spans)).cut(to: width) }
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
    case .running: "◌".styled(.warning)
    case .ok: "✓".styled(.positive)
    case .failed: "✗".styled(.error)
    }
  }

  private func name(_ call: VoiceToolCall) -> Line {
    let server = call.serverName ?? call.toolName.flatMap { servers[$0] }
    let type = call.toolType == "function" ? nil : call.toolType
    return Line {
      Fit.truncate(Untrusted.text(call.toolName, or: "?"), to: 24)
        .styled(call.state == .failed ? Style(Palette.error, bold: true) : .bold)
      Untrusted.text(server ?? type).map { ("@" + Fit.truncate($0, to: 16)).dim }
    }
  }

  private func time(_ call: VoiceToolCall) -> Line {
    if call.state == .running {
      return (Age.span(from: call.startedAt, to: now.time) ?? "").styled(.warning)
    }
    guard let time = call.runtimeMs, time >= 0 else { return "-".dim }
    return Amount.duration(time).styled(time > Self.slowMs ? .warning : .plain)
  }

  private func remark(_ call: VoiceToolCall) -> Line {
    if call.state == .running { return "running".styled(.warning) }
    return (call.runtimeMs ?? 0) > Self.slowMs ? "slow".styled(.warning) : Line()
  }

  private func arguments(_ call: VoiceToolCall) -> String? {
    Untrusted.value(call.arguments, unwraps: true)
  }

  /// What came out, with the arguments before it where they have no room above.
  @Lines private func outcome(_ call: VoiceToolCall, arguments: String?) -> [Line] {
    arguments.map { "\($0) ".dim }
    let output = Untrusted.value(call.outputSummary)
    if call.state == .failed {
      "! \(Untrusted.text(call.error) ?? output ?? "failed")".styled(.error)
    } else if let output {
      "→ ".dim
      output
    }
  }
}

struct MCPPanel: Panel {
  static let name = "mcp", title = "MCP servers"

  private static let most = 40

  private let servers: [VoiceMCPServer], now: Now

  init?(_ session: VoiceSession, at now: Now) {
    (servers, self.now) = (Array(session.mcpStatus.prefix(Self.most)), now)
    if servers.isEmpty { return nil }
  }

  var note: Line {
    let up = servers.count { $0.connected == true }
    return Line("\(up) of \(servers.count) up", up == servers.count ? .plain : .error)
  }

  @Lines func lines(width: Int) -> [Line] {
    let isWide = width >= 72
    let rows = Grid.lines([.left, .right, .left, .giving], width: width) {
      servers.map { server in
        [head(server), count(server), call(server), isWide ? tools(server, width) : Line()]
      }
    }
    for (row, server) in zip(rows, servers) {
      row
      if !isWide, !server.tools.isEmpty {
        Line([Line.Span("  ")] + tools(server, width).spans).cut(to: width)
      }
      fault(server, width)
    }
  }

  private func head(_ server: VoiceMCPServer) -> Line {
    let isUp = server.connected == true
    return Line {
      Line(isUp ? "● " : "✗ ", isUp ? .positive : .error)
      Fit.truncate(Untrusted.text(server.serverName, or: "(no name)"), to: 20)
    }
  }

  private func count(_ server: VoiceMCPServer) -> Line {
    let count = server.tools.count
    return count == 0 ? "no tools".dim : Line(PanelText.count(count, "tool"))
  }

  private func call(_ server: VoiceMCPServer) -> Line {
    if let age = Age.text(server.lastCallAt, at: now) { return Line("called \(age)") }
    return (Age.text(server.lastConnectedAt, at: now).map { "since \($0)" } ?? "never up").dim
  }

  private func tools(_ server: VoiceMCPServer, _ cells: Int) -> Line {
    let names = server.tools.prefix(Self.most).compactMap { Untrusted.text($0.name) }
    return names.joined(separator: ", ").dim.cut(to: cells)
  }

  /// An error of a server that is up again is history.
  private func fault(_ server: VoiceMCPServer, _ width: Int) -> [Line] {
    guard let error = server.lastError else { return [] }
    let isPast = server.connected == true
    return PanelText.paragraph(
      error, isPast ? .dim : .error, lead: (isPast ? "  last error " : "  ").dim, width: width,
      most: 2)
  }
}
