import Agent
import Core
import Records
import Screen
import Web

extension Memory {
  /// `GET /api/memory/fact-profile`.
  func factProfile() throws -> ExitStatus {
    let text = options.text
    let path = ClankyPath.factProfile(
      user: try caller.user(named: options.id), guild: try guild(), channel: options.channel,
      text: text.isEmpty ? nil : text)
    return try context(try caller.call(path), path, none: "nothing is loaded")
  }

  /// `POST /api/memory/runtime-snapshot`.
  func snapshot() throws -> ExitStatus {
    let text = options.text
    let path = ClankyPath.runtimeSnapshot
    let body = FactWire.snapshot(
      guild: try guild(), channel: options.channel,
      user: try options.user.map { name throws(Failure) in
        try caller.user(named: name)
      },
      text: text.isEmpty ? nil : text, mode: options.turn.rawValue)
    let reply = try caller.call(path, method: "POST", body: body)
    return try context(reply, path, none: "nothing would be told")
  }

  private func context(_ reply: Caller.Reply, _ path: String, none: String) throws -> ExitStatus {
    let place = caller.place(path)
    guard case .record(let record) = try Answer(reply, place: place),
      let context = MemoryContext(record)
    else { throw Failure(place, "the answer is not an object", .failure) }
    if context.isEmpty { tellPerson(none) }
    if !context.isEmpty || output.form == .json {
      try output.records(
        [record], fields: ["list"] + FactRows.fields, tsv: { _ in context.tsv },
        lines: { _, width in context.lines(width: width) })
    }
    return context.isEmpty ? .negative : .success
  }
}

extension MemoryContext {
  fileprivate var tsv: [String] {
    facts.flatMap { list in
      list.facts.map { value in
        let rest = Fact(value)?.tsv ?? RowText.escape(value.compact())
        return RowText.escape(list.title) + "\t" + rest
      }
    }
  }

  fileprivate func lines(width: Int?) -> [Line] {
    var lines = words.map { title, text in
      Line([
        Line.Span(Fit.padEnd(Plain.line(title, limit: 60), to: 12), .dim),
        Line.Span(Plain.line(text, limit: 500)),
      ])
    }
    lines += FactRows.section("participants", people.map { ("", $0) }, width: width)
    for list in facts {
      lines += FactRows.section(Plain.line(list.title, limit: 100), list.facts, width: width)
    }
    lines += FactRows.section("recent conversation", conversations.map(Self.said), width: width)
    lines += FactRows.section("recent voice sessions", voiceSessions.map(Self.said), width: width)
    if let session = activeVoiceSession {
      let who = session.people.joined(separator: ", ")
      lines += FactRows.section("active voice session", [(session.id, who)], width: width)
    }
    return lines
  }

  private static func said(_ said: Said) -> (head: String, text: String) {
    let score = said.score.map { "  score \(Amount.fixed($0, 3))" } ?? ""
    return (Cell.time(said.at).span.text + score, said.text)
  }
}

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
