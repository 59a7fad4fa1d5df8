import Core
import Screen

/// The tool servers: whether they answer, what they offer, what went wrong.
struct MCPPanel: Panel {
  static let name = "mcp"
  static let title = "MCP servers"

  private static let most = 40

  private let servers: [VoiceMCPServer]
  private let now: Timestamp

  init?(_ session: VoiceSession, at now: Timestamp) {
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
    line.add(Fit.truncate(Outside.text(server.serverName, or: "(no name)"), to: 20))
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
    let names = server.tools.prefix(Self.most).compactMap { Outside.text($0.name) }
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
