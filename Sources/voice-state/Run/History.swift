import Agent
import CLibc
import Core
import Screen

/// Past sessions, a row each.
struct History {
  let options: StateOptions
  let diagnostics: Diagnostics

  /// How many are asked for when nobody says.
  static let usual = 100

  func run(_ query: Query) throws -> ExitStatus {
    let now = Timestamp.now()
    let since = options.since.map { now.adding(.seconds(-Int64(min($0, 1e12)))) }
    let filter = options.filter
    // The server's own window leaves out what began before it, and a filter of
    // ours may leave few of many.
    let isFiltered = since != nil || filter.session != nil
    let limit = isFiltered ? PastSessions.most : options.count ?? Self.usual
    let path = ClankyPath.pastSessions(
      guild: filter.guild, limit: min(max(limit, 1), PastSessions.most))
    guard let all = PastSessions(try query.get(path)) else {
      throw QueryFailure(what: query.place(path), reason: "the answer is no list", status: .failure)
    }
    let past = all.filtered(filter).limited(since: since, count: options.count ?? Self.usual)
    let writer = RecordWriter()
    if options.form == .json {
      for row in past.rows { try JSONLines.write(row.bytes, to: writer) }
    } else if past.rows.isEmpty {
      try writer.write("No past voice session.\n")
    } else {
      let canvas = Canvas(options)
      let lines = PastSession.lines(past.rows.map(\.session), at: now)
      // A row is cut only on a terminal: its id is what replay wants.
      let width = isatty(1) == 1 || options.look.width != nil ? canvas.width : 1000
      try writer.write(canvas.text(lines, width: width))
    }
    try writer.flush()
    return .success
  }
}
