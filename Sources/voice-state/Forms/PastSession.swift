import Agent
import Core
import Screen

extension [PastSession] {
  func lines(at now: Timestamp, guilds: [String: String] = [:]) -> [Line] {
    let rows = map { session in
      [
        session.startedAt.map { TimeText.absolute($0, zone: TimeText.local) } ?? "-",
        Age.text(session.endedAt, at: now) ?? "-",
        session.seconds.map { Amount.duration($0 * 1000) } ?? "-",
        Untrusted.text(session.mode, or: "-"), Untrusted.text(session.reason, or: "-"),
        Untrusted.text(session.guild.flatMap { guilds[$0] })
          ?? Untrusted.text(session.guild, or: "-"),
        Untrusted.text(session.id, or: "-"),
      ]
    }
    let titles = ["started", "ended", "took", "mode", "end", "guild", "session"]
    let widths = titles.indices.map { column in
      (rows + [titles]).map { CellWidth.of($0[column]) }.max() ?? 0
    }
    func line(_ cells: [String], _ style: (Int) -> Style) -> Line {
      var line = Line()
      for (column, cell) in cells.enumerated() {
        let isLast = column == cells.count - 1
        let text = column == 2 ? Fit.padStart(cell, to: widths[column]) : cell
        line.add(isLast ? text : Fit.padEnd(text, to: widths[column]), style(column))
        if !isLast { line.add("  ") }
      }
      return line
    }
    guard !rows.isEmpty else { return [] }
    return [line(titles) { _ in .dim }]
      + rows.map { cells in
        line(cells) { column in
          switch column {
          case 4:
            cells[4].holds("error") || cells[4].holds("lost") ? Style(Palette.error) : .plain
          case 5: .dim
          default: .plain
          }
        }
      }
  }

  func filtered(_ filter: SessionFilter) -> [PastSession] {
    self.filter { filter.takes(id: $0.id, guild: $0.guild) }
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
