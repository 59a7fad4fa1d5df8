public import Core
import Records
import Web

/// What a dashboard can be asked for (Agent/Clanky/CONTRACT.md 5 and 6).
enum ClankyOperations {
  private static let guild = Operation.Operand("GUILD")

  static let all = table.map { operation in
    Operation(
      operation.name, operation.operand, options: operation.options, listing: operation.listing
    ) { try operation.run(resolved($0, operation.operand)) }
  }

  private static let table: [Operation] = [
    Operation("health", run: health),
    Operation(
      record: "stats", options: ["guild"], path: { ClankyPath.stats(guild: $0.guild) },
      facts: { stats($0, now: .now()) }),
    Operation(
      "actions", options: ["guild", "count", "since", "kind"], listing: .actions,
      run: { try $0.actions() }),
    Operation(list: "guilds", of: .guilds, path: { _ in ClankyPath.guilds }),
    Operation("names", options: ["count"], listing: .names, run: names),
    Operation(
      list: "channels", guild, options: ["guild"], of: .channels,
      path: { call throws(Failure) in
        let given = call.arguments.guild ?? call.arguments.operand
        return ClankyPath.channels(guild: try call.caller.guild(given))
      }),
    Operation(
      list: "automations", options: ["guild", "channel", "status"], of: .automations,
      path: { call throws(Failure) in
        ClankyPath.automations(
          guild: try call.caller.guild(call.arguments.guild),
          channel: call.arguments.channel, statuses: call.arguments.statuses,
          limit: call.limit(.automations))
      }),
    Operation(
      "runs", Operation.Operand("AUTOMATION"), options: ["guild", "count"], listing: .runs,
      run: runs),
    Operation(
      list: "browser-sessions", options: ["guild", "since"], of: .browserSessions,
      path: { call in
        ClankyPath.browserSessions(
          guild: call.arguments.guild, sinceHours: call.arguments.since?.hours(now: .now()),
          limit: call.limit(.browserSessions))
      }),
    Operation(list: "mcp", of: .mcp, path: { _ in ClankyPath.mcp }),
    Operation(list: "asr-sessions", of: .asrSessions, path: { _ in ClankyPath.asrSessions }),
    Operation(list: "tool-events", of: .toolEvents, path: { _ in ClankyPath.toolEvents }),
    Operation(
      record: "tunnel", path: { _ in ClankyPath.tunnel }, isWell: isUp(tunnel:)),
    Operation(record: "settings", path: { _ in ClankyPath.settings }),
    Operation("join", guild, options: ["guild", "channel", "user"], run: join),
  ]

  private static func resolved(
    _ call: OperationCall, _ operand: Operation.Operand?
  ) throws(Failure) -> OperationCall {
    var arguments = call.arguments
    // A dashboard refuses to join where it is not, but answers of it with nothing.
    func id(_ name: String) throws(Failure) -> String {
      if call.name == "join", NameKey.isID(name) { return name }
      return try call.caller.guild(named: name).id
    }
    if let name = arguments.guild { arguments.guild = try id(name) }
    if operand?.name == guild.name, let name = arguments.operand {
      arguments.operand = try id(name)
    }
    if let name = arguments.user { arguments.user = try call.caller.user(named: name) }
    return OperationCall(
      call.name, arguments, caller: call.caller, output: call.output,
      diagnostics: call.diagnostics)
  }

  private static func names(_ call: OperationCall) throws -> ExitStatus {
    let guilds = try call.caller.guilds()
    let all = guilds.filter { !$0.name.isEmpty } + (try call.caller.users())
    return try call.finish(all.map(\.record), .names)
  }

  private static func health(_ call: OperationCall) throws -> ExitStatus {
    let reply = try call.caller.call(ClankyPath.health)
    let url = call.caller.place(ClankyPath.health)
    guard case .record(let record) = try Answer(reply, place: url), let value = JSONValue(record),
      value.isObject
    else { throw Failure(url, "the answer is not an object", .failure) }
    let isWell = value["ok"]?.bool != false
    let latency = Latency.text(reply.seconds)
    try call.output.record(
      health(record, latency: latency, url: url),
      facts: [
        ("health", isWell ? .words("ok", .good) : .words("not ok", .bad)),
        ("latency", .words("\(latency) ms")), ("url", .words(url)),
      ])
    return isWell ? .success : .negative
  }

  private static func runs(_ call: OperationCall) throws -> ExitStatus {
    let most = call.arguments.count ?? .max
    let guild = try call.caller.guild(call.arguments.guild)
    var automations = call.arguments.operand.map { [$0] } ?? []
    if automations.isEmpty {
      let path = ClankyPath.automations(
        guild: guild, statuses: ["all"], limit: Listing.automations.most)
      automations = try call.rows(.automations, path).compactMap { JSONValue($0)?["id"]?.text }
    }
    var found: [[UInt8]] = []
    for automation in automations where found.count < most {
      found += try call.rows(
        .runs, ClankyPath.runs(of: automation, guild: guild, limit: call.limit(.runs)))
    }
    return try call.finish(found, .runs)
  }

  private static func join(_ call: OperationCall) throws -> ExitStatus {
    let (asked, output) = (call.arguments, call.output)
    let guild = asked.operand ?? asked.guild
    let body = VoiceJoin.body(guild: guild, user: asked.user, channel: asked.channel)
    let path = ClankyPath.voiceJoin
    let reply = try call.caller.call(path, method: "POST", body: body)
    let place = call.caller.place(path)
    guard case .record(let record) = try Answer(reply, place: place),
      let value = JSONValue(record), let outcome = VoiceJoin.outcome(value)
    else { throw Failure(place, "the answer does not say what came of it", .failure) }
    if outcome.isJoined || !output.isTable {
      try output.record(record, facts: [("join", .words(outcome.words))])
    }
    try output.flush()
    guard outcome.isJoined else {
      call.diagnostics.error("join", reply.head.quoted(outcome.words))
      return .negative
    }
    let difference = VoiceJoin.difference(
      value, guild: guild, user: asked.user, channel: asked.channel)
    if let difference { call.diagnostics.error("join", difference) }
    return .success
  }
}

/// What a person and a script are told of single records of a dashboard
/// (Agent/Clanky/CONTRACT.md 5.1 and 5.4).
extension ClankyOperations {
  static func stats(_ payload: JSONValue, now: Timestamp) -> [OperationOutput.Detail]? {
    guard let stats = ActionStats(payload) else { return nil }
    let runtime = payload["runtime"]
    var facts: [OperationOutput.Detail] = []
    func fact(_ name: String, _ cell: Cell?) {
      if let cell { facts.append((name, cell)) }
    }
    if let isReady = stats.isReady {
      let tag = runtime?["userTag"]?.text ?? ""
      let words = isReady ? "connected" : "not connected"
      fact("agent", .words(tag.isEmpty ? words : "\(words) as \(tag)", isReady ? .good : .bad))
    }
    fact("gateway", gateway(runtime?["gateway"]).map { .words($0, .odd) })
    fact("guilds", .text(runtime?["guildCount"]))
    fact("last message", .age(runtime?["lastBotMessageAt"], now: now))
    fact("waiting replies", stats.pendingReplies.map { .words("\($0)") })
    fact("voice sessions", stats.voiceSessions.map { .words("\($0)") })
    let tunnel = runtime?["publicHttps"]
    fact("tunnel", .row(["status", "publicUrl", "lastError"].map { .text(tunnel?[$0]) }))
    fact("cost today", stats.cost(of: String(now.rfc3339.prefix(10))).map { .dollars($0) })
    if let total = stats.totalCost {
      let days = stats.dailyCosts
      let bars = days.count > 1 ? [Cell.bars(days.prefix(14).reversed().map(\.cost))] : []
      fact("cost kept", .row([.dollars(total)] + bars, by: "  "))
    }
    let reply = payload["stats"]?["performance"]?["totalMs"]
    if let half = reply?["p50Ms"]?.number {
      let most = reply?["p95Ms"]?.number.map { [Cell.words("95 % in"), .duration($0)] } ?? []
      fact("reply time", .row([.row([.words("half in"), .duration(half)]), .row(most)], by: ", "))
    }
    for entry in stats.counts where entry.count != 0 {
      let isError = ActionKind.isError(kind: entry.kind)
      fact("24 h \(entry.kind)", .words("\(entry.count)", isError ? .bad : .plain))
    }
    return facts
  }

  private static func gateway(_ gateway: JSONValue?) -> String? {
    if gateway?["reconnectInFlight"]?.bool == true {
      let tries = gateway?["reconnectAttempts"]?.integer ?? 0
      return "reconnecting, try \(tries)"
    }
    return gateway?["hasConnectedAtLeastOnce"]?.bool == false ? "never connected" : nil
  }

  /// `{"type":"health","ok":true,"latency_ms":3.2,"url":"..."}`: the backend's
  /// members as they came, between ours.
  static func health(_ answer: [UInt8], latency: String, url: String) -> [UInt8] {
    let inner = RowText.line(Array(RowText.line(answer).dropFirst().dropLast()))
    return RecordText(.health).members(inner).json("latency_ms", latency).string("url", url).bytes
  }

  /// Whether the agent can be reached through its tunnel (`GET /api/public-https`): the
  /// address alone does not tell, for it stays when the tunnel has ended.
  static func isUp(tunnel: JSONValue) -> Bool {
    tunnel["enabled"]?.bool == true && tunnel["status"]?.string == "ready"
  }
}

/// `POST /api/voice/join`: what is sent, and what the answer means
/// (Agent/Clanky/CONTRACT.md 6). A refusal comes with 200 too.
public enum VoiceJoin {
  /// The body of the request.
  ///
  /// - Parameters:
  ///   - guild: nil for the first in which somebody is in a voice channel.
  ///   - user: whose voice channel is joined; nil for the first person's.
  ///   - channel: the text channel to answer in.
  public static func body(guild: String?, user: String?, channel: String?) -> [UInt8] {
    RecordText().string("guildId", guild).string("requesterUserId", user)
      .string("textChannelId", channel).string("source", "agent-call").bytes
  }

  /// Where the answer names another guild, person or text channel than was asked
  /// for: a dashboard falls back without a word.
  ///
  /// - Returns: a few words, nil when all is as it was asked for.
  public static func difference(
    _ answer: JSONValue, guild: String?, user: String?, channel: String?
  ) -> String? {
    let parts = [
      ("guildId", "guild", guild), ("requesterUserId", "user", user),
      ("textChannelId", "text channel", channel),
    ].compactMap { name, word, asked -> String? in
      guard let asked, let got = answer[name]?.text, got != asked else { return nil }
      return "\(word) \(got), not \(asked)"
    }
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  /// Reads the answer.
  ///
  /// - Returns: whether the agent is there now, and what came of it in words; nil when it does not
  ///   say whether the agent joined.
  public static func outcome(_ answer: JSONValue) -> (isJoined: Bool, words: String)? {
    guard let ok = answer["ok"]?.bool else { return nil }
    let reason = answer["reason"]?.text ?? ""
    let known = words[reason]
    let place = [
      answer["voiceChannelId"]?.text.map { "channel \($0)" },
      answer["guildId"]?.text.map { "guild \($0)" },
    ].compactMap { $0 }.joined(separator: ", ")
    if ok {
      let said = known ?? (reason.isEmpty ? "joined" : reason)
      return (true, place.isEmpty ? said : "\(said): \(place)")
    }
    return (false, known.map { "\($0) (\(reason))" } ?? (reason.isEmpty ? "refused" : reason))
  }

  private static let words = [
    "joined": "joined",
    "already_in_channel": "already there",
    "no_guild_available": "the agent is in no guild",
    "guild_not_found": "the agent is in no such guild",
    "requester_not_in_voice": "that user is in no voice channel",
    "requester_is_bot": "that user is a bot",
    "no_voice_members_found": "nobody is in a voice channel",
    "text_channel_unavailable": "that text channel cannot be used",
    "join_not_handled": "the agent did not act on it",
    "voice_join_unconfirmed": "the agent tried, but is not in the channel yet",
    "voice_join_unknown": "the agent does not say what came of it",
    "voice_join_unavailable": "the agent cannot join voice channels",
  ]
}
