package import Core
import Records
package import Web

/// A dashboard that is asked about voice (Agent/Clanky/CONTRACT.md 4 and 5.5).
package struct ClankyVoice {
  /// An event of a past session: its own bytes, what they say, when it happened.
  package typealias PastEvent = (bytes: [UInt8], news: VoiceNews, at: Timestamp)

  /// The most sessions that have ended which one answer has.
  package static let mostPast = 200

  /// Whose dashboard.
  package let agent: AgentAccess
  private let caller: Caller

  /// - Parameter maxTime: seconds for all requests; nil for the default of each.
  package init(
    _ options: AccessOptions, maxTime: Double?, diagnostics: Diagnostics
  ) throws(Failure) {
    agent = try AgentAccess(
      options, for: .voice, connectTimeout: Caller.connectTime, maxTime: maxTime,
      diagnostics: diagnostics)
    caller = Caller(
      agent.backend, client: agent.client, maxTime: maxTime, diagnostics: diagnostics)
  }

  /// The stream of states and events; see `VoiceRecord.read`.
  package func stream() throws(Failure) -> FollowedStream {
    try DashboardStream.voice.followed(of: agent, state: nil)
  }

  /// What asks for it.
  package func request() throws(Failure) -> Request {
    try DashboardStream.voice.request(to: agent)
  }

  /// The sessions now.
  package func state() throws(Failure) -> RawState {
    let path = ClankyPath.voiceState
    let body = try caller.call(path).body
    do { return try body.withUnsafeBytes { try RawState($0) } } catch {
      throw Failure(caller.place(path), "the answer is not a voice state", .failure)
    }
  }

  /// The id of a guild.
  ///
  /// - Throws: `Failure`, also for a guild that the agent is not in.
  package func guild(named text: String) throws(Failure) -> String {
    try caller.guild(named: text).id
  }

  /// The names of the guilds by their ids, as far as the backend tells them.
  package func guildNames() -> [String: String] {
    let guilds = (try? caller.guilds()) ?? []
    return Dictionary(guilds.map { ($0.id, $0.name) }) { first, _ in first }
  }

  /// Sessions that have ended, latest first.
  ///
  /// - Parameter limit: no more than so many; the backend has a limit of its own.
  package func past(guild: String?, limit: Int) throws(Failure) -> [PastSession] {
    let path = ClankyPath.pastSessions(guild: guild, limit: limit)
    return try rows(path).map(PastSession.init)
  }

  /// Asks for sessions that have ended without waiting for the answer, which `past(in:)` reads;
  /// nil when there is nothing to ask.
  package func fetchPast(guild: String?, limit: Int) -> Fetch? {
    fetch(ClankyPath.pastSessions(guild: guild, limit: limit))
  }

  /// The sessions in an answer; nil where there are none in it.
  package func past(in end: FetchEnd) -> [PastSession]? { rows(in: end)?.map(PastSession.init) }

  /// Asks for the guilds as `fetchPast` asks for sessions.
  package func fetchGuilds() -> Fetch? { fetch(ClankyPath.guilds) }

  /// The names in an answer by the guilds' ids.
  package func guildNames(in end: FetchEnd) -> [String: String] {
    let guilds = [ToldName](guilds: rows(in: end)?.map(\.bytes) ?? [])
    return Dictionary(guilds.filter { !$0.name.isEmpty }.map { ($0.id, $0.name) }) { one, _ in one }
  }

  private func fetch(_ path: String) -> Fetch? {
    (try? agent.backend.request(path)).map { Fetch(agent.client, $0, now: Clock.monotonic) }
  }

  private func rows(in end: FetchEnd) -> [Row]? {
    guard case .response(let head, let body) = end, agent.backend.problem(of: head, body) == nil
    else { return nil }
    return Self.objects(body)
  }

  /// An element of a list: its own bytes on one line, and what they say.
  typealias Row = (bytes: [UInt8], value: JSONValue)

  /// The elements that are objects; nil when this is not a list.
  private static func objects(_ list: [UInt8]) -> [Row]? {
    Answer.elements(list)?.compactMap { bytes in
      JSONValue(bytes).flatMap { $0.isObject ? (bytes.oneLine, $0) : nil }
    }
  }

  /// The events of a past session, oldest first; those that are not objects are left
  /// out.
  package func events(of session: String) throws(Failure) -> [PastEvent] {
    var last = Timestamp(seconds: 0)
    return try rows(ClankyPath.events(ofPastSession: session)).map { row in
      let news = VoiceNews(Action(row.value))
      last = news.at ?? last
      return (row.bytes, news, last)
    }
  }

  private func rows(_ path: String) throws(Failure) -> [Row] {
    if let rows = Self.objects(try caller.call(path).body) { return rows }
    throw Failure(caller.place(path), "the answer is not a list", .failure)
  }
}

extension PastSession {
  init(_ row: ClankyVoice.Row) {
    let value = row.value
    bytes = row.bytes
    id = value["sessionId"]?.text
    guild = value["guildId"]?.text
    mode = value["mode"]?.text
    reason = value["endReason"]?.text
    startedAt = value["startedAt"]?.time
    endedAt = value["endedAt"]?.time
    seconds = value["durationSeconds"]?.number
  }
}
