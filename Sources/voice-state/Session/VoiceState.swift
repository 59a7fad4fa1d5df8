import Core

/// The state of all voice sessions: the answer of `GET /api/voice/state` and the
/// data of a `voice_state` event.
///
/// Reads both spellings of the wire and never fails: a member that is missing,
/// null or of another type is nil or empty.
struct VoiceState: Sendable {
  /// How many sessions the server counts; as many as there are when it does not say.
  let activeCount: Int
  /// One session a guild, as sent.
  let sessions: [VoiceSession]

  /// - Parameter value: `{"activeCount":n,"sessions":[...]}`; anything else is
  ///   a state without sessions.
  init(_ value: JSONValue) {
    sessions = value.list(VoiceSession.init, "sessions")
    activeCount = value.int("activeCount") ?? sessions.count
  }
}
