import Core
import Records

struct ServedBackend: Sendable {
  let store: ActionStore
  let log: ActionLog
  let stats: StatsKeeper
  let documents: Documents
  let memory: ServedMemory
  let streams: Streams
  let activity: ServedFeed
  let voice: ServedFeed
  let serving: Serving
  let riff: RiffService?

  /// The answer that is certain before a request's body has come; nil when there is none.
  func refusal(of head: RequestHead) -> WholeAnswer? {
    if let riff, RiffService.isAsked(head) { return riff.refusal(of: head) }
    if let refusal = accessRefusal(of: head) { return refusal }
    if head.method == "GET" || head.method == "HEAD" { return nil }
    guard write(of: head) != nil else { return head.isMethodKnown ? .noSuchMethod : .unknownMethod }
    // A page that a browser shows may send a plain POST anywhere; only a
    // token, which it cannot send unasked, stands against that.
    return serving.token == nil && head["origin"] != nil ? .foreignOrigin : nil
  }

  /// A request has to name this server, and all under /api needs the token.
  func accessRefusal(of head: RequestHead) -> WholeAnswer? {
    if let names = serving.names, !names.serve(head.authority) { return .misdirected }
    guard let token = serving.token, head.isOfAPI else { return nil }
    return token.matches(head["x-dashboard-token"]) ? nil : .unauthorized
  }

  func bodyPlan(_ head: RequestHead) -> BodyPlan {
    if let riff, RiffService.isAsked(head) { return riff.bodyPlan(head) }
    guard refusal(of: head) == nil else { return BodyPlan() }
    return BodyPlan(keeps: write(of: head) != nil, share: BodyPlan.budget.share())
  }

  func answer(_ head: RequestHead, body: RequestBody) async -> WholeAnswer {
    // Its requests are signed, which no page of a browser can do, whatever it calls us.
    if let riff, RiffService.isAsked(head) { return await riff.answer(head, body) }
    if let refusal = accessRefusal(of: head) { return refusal }
    guard case .whole(let bytes) = body.behindMark else { return .tooLarge }
    if let refusal = refusal(of: head) { return refusal }
    do {
      if let write = write(of: head) { return try await write(bytes) }
      return try await read(head) ?? .noSuchPath
    } catch let refusal as Refusal {
      return refusal.answer
    } catch {
      serving.diagnostics.errorRarely(head.path, errorText(error))
      return .error(errorText(error), status: 500)
    }
  }

  /// What a request writes; nil for one that writes nothing.
  private func write(of head: RequestHead) -> (([UInt8]) async throws -> WholeAnswer)? {
    let type = head["content-type"] ?? ""
    func object(_ body: [UInt8]) throws(Refusal) -> RequestObject { try .init(body, type: type) }
    switch (head.method, head.path) {
    case ("POST", "/api/actions"): return { try await post($0, type: type) }
    case ("POST", "/api/voice/join"): return { try await join(object($0)) }
    case ("POST", "/api/memory/refresh"): return { try await memory.refresh(object($0)) }
    case ("POST", "/api/memory/runtime-snapshot"):
      return { try await memory.snapshot(object($0), voice: documents.bytes(.voiceState)) }
    case ("POST", "/api/memory/facts"): return { try await memory.add($0, type: type) }
    case ("PUT", let path):
      if let document = Document(path: path) { return { try await put(document, $0) } }
    default: break
    }
    if let fact = head.segment(after: "/api/memory/facts/", before: "") {
      switch head.method {
      case "PUT": return { try await memory.edit(fact, object($0)) }
      case "DELETE": return { try await memory.delete(fact, object($0)) }
      default: return nil
      }
    }
    guard head.method == "DELETE",
      let run = head.segment(after: "/api/memory/reflections/", before: "")
    else { return nil }
    return { body in
      _ = try object(body)
      if run.trimmingBlanks().isEmpty { throw Refusal(fact: "runId required") }
      let ids = try await store.read { try Reflections.actions(of: run, $0) }
      try await log.remove(ids)
      return .json(RecordText().bool("ok", true).number("deleted", ids.count))
    }
  }

  /// What the store is asked for, by the path.
  private static let lists: [String: @Sendable (QueryParameters, Database) throws -> WholeAnswer] =
    [
      "/api/actions": {
        .json(ActionEncoder.rows(try ActionStore.actions(ActionQuery($0, now: .now()), $1)))
      },
      "/api/actions/count": {
        let count = try ActionStore.count(ActionQuery(counting: $0, now: .now()), $1)
        return .json(RecordText().number("count", count))
      },
      "/api/agents/browser-sessions": { .json(try BrowserSessions.json($0, $1)) },
      "/api/memory": {
        .json(try FactLists.markdown($0.word("guildId"), isRefresh: false, $1))
      },
      "/api/memory/facts": { .json(try FactLists.facts($0, $1)) },
      "/api/memory/reflections": { .json(try Reflections.json($0, $1)) },
      "/api/memory/subjects": { .json(try FactLists.subjects($0, $1)) },
      "/api/voice/history/sessions": { .json(try VoiceHistory.sessions($0, $1)) },
    ]

  private func read(_ head: RequestHead) async throws -> WholeAnswer? {
    let query = QueryParameters(head.query)
    if let list = Self.lists[head.path] { return try await store.read { try list(query, $0) } }
    func panels() -> VoicePanels { VoicePanels(documents.bytes(.voiceState)) }
    func guilds() -> Guilds { Guilds(documents.bytes(.guilds)) }
    switch head.path {
    case "/api/health": return .healthy
    case "/api/stats": return try await statistics(query)
    case "/api/activity/events", "/api/voice/events":
      // Of a HEAD; a GET is a stream.
      return WholeAnswer(status: 200, type: "text/event-stream", body: [], isStream: true)
    case "/api/memory/search": return .json(try await memory.search(FactSearch(query)))
    case "/api/memory/fact-profile":
      return .json(try await memory.profile(query, voice: documents.bytes(.voiceState)))
    case "/api/voice/state": return .json(documents.bytes(.voiceState))
    case "/api/voice/asr-sessions": return .json(panels().asrSessions(now: .now()))
    case "/api/voice/tool-events": return .json(panels().toolEvents)
    case "/api/mcp/status": return .json(panels().mcpStatus)
    case "/api/guilds": return .json(guilds().json)
    case "/api/automations": return Automations.list(query, documents.bytes(.automations))
    case "/api/automations/runs":
      return Automations.runs(
        query, documents.bytes(.automationRuns), of: documents.bytes(.automations))
    case "/api/public-https": return .json(documents.bytes(.publicHTTPS))
    case "/api/llm/models": return .json(documents.bytes(.models))
    default: break
    }
    if let session = head.segment(after: "/api/voice/history/sessions/", before: "/events") {
      return .json(
        ActionEncoder.rows(try await store.read { try VoiceHistory.events(session, $0) }))
    }
    guard let guild = head.segment(after: "/api/guilds/", before: "/channels") else { return nil }
    if guild.trimmingBlanks().isEmpty { return .error("guildId is required", status: 400) }
    return .json(guilds().channels(of: guild))
  }

  private func statistics(_ query: QueryParameters) async throws -> WholeAnswer {
    let now = Timestamp.now()
    guard let guild = query.word("guildId") else { return .json(stats.json(now: now)) }
    let costs = stats.costs(of: guild)
    let book = try await store.read { try StatsBook.load($0, guild: (guild, costs), now: now) }
    return .json(stats.json(guild: book, now: now))
  }
}

extension ServedFeed {
  /// All actions, beginning with a snapshot unless the client resumes.
  static func activity(_ hub: Hub, _ store: ActionStore, _ stats: StatsKeeper) -> ServedFeed {
    let snapshot = SharedSnapshot()
    return ServedFeed(hub: hub, store: store, kinds: "", frame: Frame.action) { resume in
      if let resume { return ([], resume) }
      let (head, newest) = try await snapshot.piece(store, version: stats.version)
      return ([head, try SharedPiece(Frame.snapshotTail(stats: stats.json(now: .now())))], newest)
    }
  }

  /// The actions of voice sessions, beginning with the voice state in any case.
  static func voice(_ hub: Hub, _ store: ActionStore, _ documents: Documents) -> ServedFeed {
    ServedFeed(hub: hub, store: store, kinds: Streams.voiceKinds, frame: Frame.voice) { resume in
      let newest = try await store.newestID()
      let state = documents.line(.voiceState)
      // With an id from which nothing would be missed; who resumes right now has
      // not yet got what it missed, and keeps its own.
      if let resume { return ([try SharedPiece(Frame.voiceState(state).bytes)], resume) }
      return ([try SharedPiece(Frame.voiceState(state, newestID: newest).bytes)], newest)
    }
  }
}

extension ServedBackend {
  func post(_ body: [UInt8], type: String) async throws -> WholeAnswer {
    let parsed = PostedActions(body, now: .now())
    // The actions come last: who is told of a failure sends all of it again, and facts and
    // documents that are there already stay what they are.
    _ = try await memory.store(parsed.facts)
    for (document, bytes) in parsed.documents { try await documents.put(document, bytes) }
    let ids = try await log.append(parsed.actions)
    let answer = RecordText(stored: ids, faults: parsed.faults)
    let isRefused =
      ids.isEmpty && parsed.documents.isEmpty && parsed.facts.isEmpty && !parsed.faults.isEmpty
    guard isRefused else { return .json(answer) }
    // What the dashboard says of such a body (Agent/Clanky/CONTRACT.md 1.2).
    let isJSON = type.lowercased().holds("application/json")
    let error = isJSON && parsed.isUnreadable ? "invalid_json_body" : "no_valid_action"
    return .json(answer.string("error", error), status: 400)
  }
}

extension RecordText {
  init(stored ids: [Int64], faults: [(line: Int, reason: String)]) {
    self = RecordText().bool("ok", faults.isEmpty).number("stored", ids.count)
      .json("ids", "[\(ids.map(String.init).joined(separator: ","))]")
      .objects(
        "errors",
        faults.map { RecordText().number("line", $0.line).string("reason", $0.reason) })
  }
}

struct PostedActions {
  private(set) var actions: [LoggedAction] = []
  private(set) var facts: [StoredFact] = []
  private(set) var documents: [Document: [UInt8]] = [:]
  private(set) var faults: [(line: Int, reason: String)] = []
  private(set) var isUnreadable = true

  init(_ body: [UInt8], now: Timestamp) {
    var reader = RecordReader(now: now, isUnique: false)
    forEachRecord(of: body) { receive($0, line: $1, &reader) }
    if actions.isEmpty && faults.isEmpty && documents.isEmpty && facts.isEmpty
      && body.allSatisfy({ $0 <= 0x20 })
    {
      faults.append((1, "no action in the body"))
    }
  }

  private mutating func receive(
    _ bytes: UnsafeRawBufferPointer, line: Int, _ reader: inout RecordReader
  ) {
    do throws(Failure) {
      for item in try reader.read(bytes) {
        switch item.content {
        case .action(let action): actions.append(action)
        case .fact(let fact): facts.append(fact)
        case .document(let document, let body): documents[document] = body
        }
      }
      isUnreadable = false
    } catch {
      if ScanValidator.isValue(bytes) { isUnreadable = false }
      faults.append((line, error.reason))
    }
  }
}

extension ServedBackend {
  func put(_ document: Document, _ body: [UInt8]) async throws -> WholeAnswer {
    let bytes: [UInt8]
    do throws(Failure) { bytes = try document.accept(body) } catch {
      // The first of the two is what the dashboard says of such a body.
      let isJSON = body.withUnsafeBytes { ScanValidator.isValue($0) }
      let word = isJSON ? "invalid_\(document.rawValue)" : "invalid_json_body"
      return .json(
        RecordText().bool("ok", false).string("error", word).string("reason", error.reason),
        status: 400)
    }
    try await documents.put(document, bytes)
    return .json(#"{"ok":true}"#)
  }
}

/// `POST /api/voice/join` (Agent/Clanky/CONTRACT.md 6), answered with what the agent told:
/// there is no Discord here, and nobody joins anything.
struct VoiceJoin: Equatable {
  struct Request: Equatable {
    var guild: String?
    var requester: String?
    var channel: String?
    var source = "dashboard_voice_tab"

    init(_ object: ScanObject) {
      func word(_ name: String) -> String? {
        let text = (object.text(name) ?? "").trimmingBlanks()
        return text.isEmpty ? nil : text
      }
      guild = word("guildId")
      requester = word("requesterUserId")
      channel = word("textChannelId")
      source = word("source") ?? source
    }
  }

  var isDone = false
  var reason: String
  var guild: String?
  var voiceChannel: String?
  var textChannel: String?
  var requester: String?
  /// 503 when there is no agent to ask at all.
  var status = 200
  private let request: Request

  init(_ request: Request, guilds: [Guilds.Guild], sessions: [ScanObject]) {
    self.request = request
    requester = request.requester
    func people(_ guild: String?) -> [String] {
      sessions.first { $0.text("guildId") == guild }?
        .objects("participants").compactMap { $0.text("userId") } ?? []
    }
    let ids = guilds.map(\.id) + sessions.compactMap { $0.text("guildId") }
    guild =
      request.guild
      ?? ids.first { id in
        request.requester.map { people(id).contains($0) } ?? !people(id).isEmpty
      } ?? ids.first
    guard let guild else {
      reason = "voice_join_unavailable"
      status = 503
      return
    }
    let known = guilds.first { $0.id == guild }
    let present = people(guild)
    guard let session = sessions.first(where: { $0.text("guildId") == guild }),
      let person = requester ?? present.first, present.contains(person)
    else {
      // Who is in voice is known of sessions alone.
      reason =
        !ids.contains(guild)
        ? "guild_not_found" : requester == nil ? "no_voice_members_found" : "requester_not_in_voice"
      return
    }
    requester = person
    voiceChannel = session.text("voiceChannelId")
    // A channel that is not there is passed over without a word.
    let channels = (known?.textChannels ?? []) + [session.text("textChannelId")].compactMap(\.self)
    textChannel =
      request.channel.flatMap { channels.contains($0) ? $0 : nil }
      ?? session.text("textChannelId") ?? channels.first
    isDone = textChannel != nil
    reason = isDone ? "already_in_channel" : "text_channel_unavailable"
    textChannel = textChannel ?? request.channel
  }

  var json: RecordText {
    let head = RecordText().bool("ok", isDone).string("reason", reason)
    if status == 503 { return head }
    return head.stringOrNull("guildId", guild).stringOrNull("voiceChannelId", voiceChannel)
      .stringOrNull("textChannelId", textChannel).stringOrNull("requesterUserId", requester)
  }

  func action(now: Timestamp) -> LoggedAction? {
    guard isDone else { return nil }
    return LoggedAction(
      createdAt: now.rfc3339, guild: guild, channel: textChannel, user: requester,
      kind: "voice_runtime", content: "dashboard_voice_join",
      metadata: RecordText().string("source", request.source).string("reason", reason)
        .stringOrNull("requestedGuildId", request.guild)
        .stringOrNull("requestedRequesterUserId", request.requester)
        .stringOrNull("requestedTextChannelId", request.channel)
        .stringOrNull("voiceChannelId", voiceChannel).bool("handled", true)
        .bool("joinedTargetChannel", true).text)
  }
}

extension ServedBackend {
  func join(_ object: RequestObject) async throws -> WholeAnswer {
    let state = documents.bytes(.voiceState)
    let outcome = state.withUnsafeBytes { bytes in
      VoiceJoin(
        object.members { VoiceJoin.Request($0) }, guilds: Guilds(documents.bytes(.guilds)).all,
        sessions: ScanObject(bytes)?.objects("sessions") ?? [])
    }
    if let action = outcome.action(now: .now()) { _ = try await log.append([action]) }
    return .json(outcome.json, status: outcome.status)
  }
}
