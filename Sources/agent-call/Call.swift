import Agent
import CLibc
import Core
import Screen
import Web

/// Does what one command asks for.
struct Call {
  let options: CallOptions
  let caller: Caller
  let output: RowOutput
  let diagnostics: Diagnostics

  /// - Returns: how to leave.
  /// - Throws: `CallFailure`, `WriteFailure`.
  func run() throws -> ExitStatus {
    if options.count == 0 { return .success }
    switch options.command {
    case .health: return try health()
    case .stats: return try stats()
    case .actions:
      return try ActionList(options, caller: caller, output: output, diagnostics: diagnostics)
        .run()
    case .guilds, .channels, .automations, .browserSessions, .mcp, .asrSessions, .toolEvents:
      return try list()
    case .runs: return try runs()
    case .tunnel: return try tunnel()
    case .settings: return try record(ClankyPath.settings, none: "no settings")
    case .join: return try join()
    case .get, .post, .put, .delete: return try anything()
    }
  }

  // MARK: - One record

  private func health() throws -> ExitStatus {
    let reply = try caller.call(ClankyPath.health)
    let url = caller.place(ClankyPath.health)
    guard case .record(let record) = try Answer(reply, place: url),
      let value = try? record.withUnsafeBytes({ try JSONValue.parse($0) }), value.isObject
    else { throw CallFailure(url, "the answer is not an object", .failure) }
    let isWell = value["ok"]?.bool != false
    let latency = Latency.text(reply.seconds)
    try output.record(
      Health.record(record, latency: latency, url: url),
      facts: Health.facts(isWell: isWell, latency: latency, url: url))
    return isWell ? .success : .negative
  }

  private func stats() throws -> ExitStatus {
    try record(ClankyPath.stats(guild: options.guild), none: "no stats") {
      StatsFacts.of($0, now: .now())
    }
  }

  private func record(
    _ path: String, none: String, facts: (JSONValue) -> [RowOutput.Fact]? = { _ in nil }
  ) throws -> ExitStatus {
    let reply = try caller.call(path)
    let answer = try Answer(reply, place: caller.place(path))
    switch answer {
    case .record(let record):
      let value = try? record.withUnsafeBytes { try JSONValue.parse($0) }
      try output.record(record, facts: value.flatMap(facts))
      return answer.refusal == nil ? .success : .negative
    case .null:
      tellPerson(none)
      return .negative
    case .rows, .nothing:
      throw CallFailure(caller.place(path), "the answer is not an object", .failure)
    }
  }

  /// The record; with `--quiet` whether the tunnel is up.
  private func tunnel() throws -> ExitStatus {
    var isUp = false
    let status = try record(ClankyPath.tunnel, none: "no tunnel") { tunnel in
      isUp = Tunnel.isUp(tunnel)
      return nil
    }
    return status == .success && options.quiet && !isUp ? .negative : status
  }

  private func join() throws -> ExitStatus {
    let guild = options.operand ?? options.guild
    let body = VoiceJoin.body(guild: guild, user: options.user, channel: options.channel)
    let path = ClankyPath.voiceJoin
    let reply = try caller.call(path, method: "POST", body: body)
    guard case .record(let record) = try Answer(reply, place: caller.place(path)),
      let value = try? record.withUnsafeBytes({ try JSONValue.parse($0) }),
      let outcome = VoiceJoin.outcome(value)
    else {
      throw CallFailure(caller.place(path), "the answer does not say what came of it", .failure)
    }
    if output.form != .table { try output.record(record) }
    if outcome.isJoined {
      if output.form == .table {
        let words = Line.Span(Plain.line(outcome.words, limit: Cell.longest), .plain)
        try output.record(record, facts: [("join", words)])
      }
      try output.flush()
      if let words = VoiceJoin.difference(
        value, guild: guild, user: options.user, channel: options.channel)
      {
        diagnostics.error("join", words)
      }
      return .success
    }
    try output.flush()
    diagnostics.error("join", reply.head.quoted(outcome.words))
    return .negative
  }

  private func anything() throws -> ExitStatus {
    let command = options.command
    let path = options.operand ?? ""
    if path.drop(while: { $0.isLetter }).hasPrefix("://") {
      let shown = path.split(separator: "?", omittingEmptySubsequences: false).first ?? ""
      throw CallFailure(String(shown), "a path of the backend is needed, not a url", .failure)
    }
    let body =
      command == .get
      ? nil : try RequestBody.read(options.data, readsInput: command.readsInput)
    let reply = try caller.call(path, method: command.method, body: body)
    let answer = try Answer(reply, place: caller.place(path))
    switch answer {
    case .nothing: return .success
    case .null:
      try output.record(Array("null".utf8))
      return .negative
    case .rows(let rows):
      if rows.isEmpty { return .negative }
      let first = Array(rows.prefix(options.count ?? .max))
      try output.list(first, .any(first))
      return .success
    case .record(let record):
      try output.record(record)
      return answer.refusal == nil ? .success : .negative
    }
  }
}

/// The commands whose answers are lists.
extension Call {
  func list() throws -> ExitStatus {
    guard let listing = options.command.listing, let path = try path(listing) else {
      return .failure
    }
    return try finish(try rows(listing, path), listing)
  }

  /// Where the list is; nil when the command has none of its own.
  private func path(_ listing: Listing) throws(CallFailure) -> String? {
    switch options.command {
    case .guilds: ClankyPath.guilds
    case .channels: ClankyPath.channels(guild: try guild())
    case .automations:
      ClankyPath.automations(
        guild: try guild(), channel: options.channel, statuses: options.statuses,
        limit: limit(listing))
    case .browserSessions:
      ClankyPath.browserSessions(
        guild: options.guild, sinceHours: options.since?.hours(now: .now()),
        limit: limit(listing))
    case .mcp: ClankyPath.mcp
    case .asrSessions: ClankyPath.asrSessions
    case .toolEvents: ClankyPath.toolEvents
    default: nil
    }
  }

  /// Runs of an automation, or of all automations of the guild.
  func runs() throws -> ExitStatus {
    let guild = try guild()
    var automations = options.operand.map { [$0] } ?? []
    if automations.isEmpty {
      let path = ClankyPath.automations(
        guild: guild, statuses: ["all"], limit: Listing.automations.most)
      automations = try rows(.automations, path).compactMap { row in
        (try? row.withUnsafeBytes { try JSONValue.parse($0) })?["id"]?.text
      }
    }
    var found: [[UInt8]] = []
    for automation in automations where found.count < options.count ?? .max {
      found += try rows(
        .runs, ClankyPath.runs(of: automation, guild: guild, limit: limit(.runs)))
    }
    return try finish(found, .runs)
  }

  /// Says something that a person at a terminal wants to know and a script sees
  /// by the status.
  func tellPerson(_ words: String) {
    if isatty(2) == 1 && !options.quiet { diagnostics.say(words) }
  }

  private func rows(_ listing: Listing, _ path: String) throws(CallFailure) -> [[UInt8]] {
    let reply = try caller.call(path)
    let place = caller.place(path)
    let rows = try Answer.list(reply, listing.member, place: place)
    if let most = listing.most, rows.count == most, options.count ?? .max > most {
      diagnostics.error(place, "there may be more than these \(most): the backend gives no more")
    }
    return rows
  }

  private func finish(_ rows: [[UInt8]], _ listing: Listing) throws(WriteFailure) -> ExitStatus {
    if rows.isEmpty {
      tellPerson("no \(options.command.rawValue)")
      return .negative
    }
    try output.list(Array(rows.prefix(options.count ?? .max)), listing)
    return .success
  }

  /// The most that an answer may hold, so that the backend's default cuts nothing.
  private func limit(_ listing: Listing) -> Int? {
    listing.most.map { min($0, options.count ?? $0) }
  }

  private func guild() throws(CallFailure) -> String {
    let given = options.command == .runs ? options.guild : options.guild ?? options.operand
    return try GuildChoice.choose(given, caller)
  }
}
