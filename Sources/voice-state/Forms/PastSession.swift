import Core
import Screen

/// A session that has ended (Agent/Clanky/CONTRACT.md 5.5).
struct PastSession {
  let id: String?, guild: String?, mode: String?, reason: String?
  let startedAt: Timestamp?, endedAt: Timestamp?
  let seconds: Double?

  /// - Parameter value: a row of the history.
  init(_ value: JSONValue) {
    func time(_ name: String) -> Timestamp? {
      value[name]?.string.flatMap { Timestamp(rfc3339: $0) }
    }
    id = value["sessionId"]?.text
    guild = value["guildId"]?.text
    mode = value["mode"]?.text
    reason = value["endReason"]?.text
    startedAt = time("startedAt")
    endedAt = time("endedAt")
    seconds = value["durationSeconds"]?.number
  }

  /// A table: when, how long, how it ended, which.
  ///
  /// - Parameter now: for the age of the end.
  static func lines(_ sessions: [PastSession], at now: Timestamp) -> [Line] {
    let rows = sessions.map { session in
      [
        session.startedAt.map { TimeText.absolute($0, zone: TimeText.local) } ?? "-",
        Age.text(session.endedAt, at: now) ?? "-",
        session.seconds.map { Amount.duration($0 * 1000) } ?? "-",
        Outside.text(session.mode, or: "-"), Outside.text(session.reason, or: "-"),
        Outside.text(session.guild, or: "-"), Outside.text(session.id, or: "-"),
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
}

/// The history as the backend sends it.
struct PastSessions {
  /// Each row's own bytes and what it says, newest end first.
  let rows: [(bytes: [UInt8], session: PastSession)]

  /// The most that the backend gives.
  static let most = 200

  /// - Parameter body: a list of rows; rows that are not objects are left out.
  /// - Returns: nil when it is not a list.
  init?(_ body: [UInt8]) {
    guard let rows = RawList.objects(body) else { return nil }
    self.rows = rows.map { ($0.bytes, PastSession($0.value)) }
  }

  private init(rows: [(bytes: [UInt8], session: PastSession)]) { self.rows = rows }

  /// Those of a guild and with a beginning of their id.
  func filtered(_ filter: SessionFilter) -> PastSessions {
    PastSessions(
      rows: rows.filter { filter.takes(id: $0.session.id, guild: $0.session.guild) })
  }

  /// Those that ended no earlier, and no more than so many.
  func limited(since: Timestamp?, count: Int?) -> PastSessions {
    let young = rows.filter { row in
      guard let since else { return true }
      return row.session.endedAt.map { $0 >= since } ?? true
    }
    return PastSessions(rows: Array(young.prefix(count ?? young.count)))
  }
}

/// What is shown when no session is active.
enum NoSession {
  static let words = "No voice session."
  /// How many past ones are listed.
  static let recent = 5
}
