import Agent
import Core
import Records

/// What a backend is asked about voice.
struct VoiceBackend {
  /// An event of a past session: its own bytes, what they say, when it happened.
  typealias PastEvent = (bytes: [UInt8], action: Action, at: Timestamp)

  let agent: AgentAccess
  private let caller: Caller

  /// - Parameter options: the profile, the token, the time for all requests.
  /// - Throws: `SettingsError`.
  init(_ options: StateOptions, _ diagnostics: Diagnostics) throws(SettingsError) {
    agent = try AgentAccess(
      options.access, for: .voice, connectTimeout: Caller.connectTime, diagnostics: diagnostics)
    caller = Caller(
      agent.backend, client: agent.client, maxTime: options.reconnect.maxTime,
      diagnostics: diagnostics)
  }

  /// The sessions now.
  func state() throws(CallFailure) -> RawState {
    let path = ClankyPath.voiceState
    let body = try caller.call(path).body
    do { return try body.withUnsafeBytes { try RawState($0) } } catch {
      throw CallFailure(caller.place(path), "the answer is not a voice state", .failure)
    }
  }

  /// Sessions that have ended, latest first.
  ///
  /// - Parameter limit: no more than so many; the backend has a limit of its own.
  func past(guild: String?, limit: Int) throws(CallFailure) -> PastSessions {
    let path = ClankyPath.pastSessions(guild: guild, limit: limit)
    guard let past = PastSessions(try caller.call(path).body) else { throw notAList(path) }
    return past
  }

  /// The events of a past session, oldest first; those that are not objects are left
  /// out.
  ///
  /// - Parameter session: its whole id.
  func events(of session: String) throws(CallFailure) -> [PastEvent] {
    let path = ClankyPath.events(ofPastSession: session)
    guard let rows = RawList.objects(try caller.call(path).body) else { throw notAList(path) }
    var last = Timestamp(seconds: 0)
    return rows.map { row in
      let action = Action(row.value)
      last = action.time ?? last
      return (row.bytes, action, last)
    }
  }

  private func notAList(_ path: String) -> CallFailure {
    CallFailure(caller.place(path), "the answer is not a list", .failure)
  }
}
