import Agent
import Core
import Records
import Screen

/// `GET /api/memory/reflections`: the list, or one of it whole.
extension Memory {
  func reflections() throws -> ExitStatus {
    let listing = Listing.reflections
    let path = ClankyPath.reflections(
      guild: try guildOrAll(), limit: min(options.count ?? .max, listing.most ?? .max))
    let place = caller.place(path)
    let rows = try Answer.list(try caller.call(path), listing.member, place: place)
    guard let wanted = options.operands.first else {
      if rows.count == listing.most, options.count == nil {
        diagnostics.error(
          "reflections", "there may be more than these \(rows.count): the backend gives no more")
      }
      return try list(rows, listing, none: "no reflections")
    }
    let runs = rows.filter { Reflection($0).isNamed(wanted) }
    if runs.isEmpty {
      diagnostics.error("run \(wanted)", "not among the \(rows.count) newest")
      return .negative
    }
    for run in runs {
      if output.form == .table {
        try output.lines(Reflection(run).lines(width: output.width))
      } else {
        try output.record(run)
      }
    }
    return .success
  }
}

extension Reflection {
  fileprivate func lines(width: Int?) -> [Line] {
    var lines: [Line] = []
    var texts: [(title: String, text: String)] = []
    for (name, value, isTime) in members {
      let text = value.text ?? value.compact(limit: Cell.longest)
      if text.isEmpty || text == "[]" { continue }
      if text.count > 60 || text.contains("\n") {
        texts.append((name, text))
      } else {
        let cell = isTime ? Cell.time(value).span : Line.Span(Plain.line(text, limit: 200))
        lines.append(
          Line([Line.Span(Fit.padEnd(Plain.line(name, limit: 60), to: 19), .dim), cell]))
      }
    }
    for list in facts {
      lines += FactRows.section(Plain.line(list.title, limit: 60), list.facts, width: width)
    }
    for (title, text) in texts {
      lines.append(Line())
      lines.append(Line(Plain.line(title, limit: 60), .bold))
      lines += Paragraph.wrap(text, to: width).map { Line($0) }
    }
    return lines
  }
}
