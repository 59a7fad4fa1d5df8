import Core
import Records

/// The sessions as they are now: the last state with what events told since.
struct VoiceFeed {
  private struct Entry {
    var raw: RawSession
    var overlay = SessionOverlay()
    /// Whether there never was a state of it, only events.
    var isRebuilt = false
    /// Made when asked for: what the bytes say, and the session with its events.
    var value: JSONValue?
    var shown: VoiceSession?

    /// The session as it is now, nil when its bytes are no JSON.
    mutating func session() -> VoiceSession? {
      if let shown { return shown }
      if value == nil { value = raw.value }
      guard var value else { return nil }
      if let text = overlay.members(over: raw.bytes, isRebuilt: isRebuilt),
        let members = try? JSONValue.parse(text: text)
      {
        value = value.merging(members)
      }
      shown = VoiceSession(value)
      return shown
    }
  }

  private let filter: SessionFilter
  /// Whether a session that has ended stays in sight.
  private let keepsEnded: Bool
  private var entries: [Entry] = []
  /// Whether a state came: then only it tells which sessions there are.
  private(set) var hasState = false
  /// Whether it is known which sessions there are, or were.
  private(set) var isKnown = false
  /// Why sessions ended, by id, until someone asks.
  private var reasons: [String: String] = [:]

  /// - Parameters:
  ///   - filter: which sessions are wanted.
  ///   - keepsEnded: whether a session that has ended stays in sight.
  init(_ filter: SessionFilter = SessionFilter(), keepsEnded: Bool = false) {
    self.filter = filter
    self.keepsEnded = keepsEnded
  }

  /// Takes a state: all sessions that there are.
  ///
  /// - Parameter now: the time of the state.
  mutating func take(_ state: RawState, at now: Timestamp?) {
    hasState = true
    isKnown = true
    entries = filter.select(state.sessions)
      .map { raw in
        var entry = Entry(raw: raw)
        if let id = raw.id, let old = entries.first(where: { $0.raw.id == id }) {
          entry.overlay = old.overlay
          entry.overlay.settle(raw.bytes, at: now)
        }
        return entry
      }
  }

  /// Takes one session's state by itself.
  mutating func take(_ session: RawSession, at now: Timestamp?) {
    guard filter.takes(id: session.id, guild: session.guild) else { return }
    hasState = true
    isKnown = true
    guard let index = entries.firstIndex(where: { $0.raw.id == session.id }) else {
      entries.append(Entry(raw: session))
      return
    }
    entries[index].raw = session
    entries[index].value = nil
    entries[index].isRebuilt = false
    entries[index].overlay.settle(session.bytes, at: now)
    entries[index].shown = nil
  }

  /// Takes an event; one of a session that is not there begins it when no state
  /// told of any and it did not end before, or when the session itself begins.
  mutating func take(_ action: Action) {
    guard let id = action.metadata?["sessionId"]?.text,
      filter.takes(id: id, guild: action.guild)
    else { return }
    var index = entries.firstIndex { $0.raw.id == id }
    if index == nil && action.kind != "voice_session_end"
      && (action.kind == "voice_session_start" || !hasState && reasons[id] == nil)
    {
      reasons[id] = nil
      entries.append(
        Entry(raw: Self.rebuilt(id, action), isRebuilt: true))
      index = entries.endIndex - 1
    }
    guard let index else { return }
    isKnown = true
    entries[index].overlay.take(action)
    entries[index].shown = nil
    if let reason = entries[index].overlay.ended {
      reasons[id] = reason
      if reasons.count > 100 { reasons = [id: reason] }
      if !keepsEnded { entries.remove(at: index) }
    }
  }

  /// The link was lost: ends of calls may be missed.
  mutating func linkLost() {
    for index in entries.indices {
      entries[index].overlay.forgetRunning()
      entries[index].shown = nil
    }
  }

  /// The sessions, in the server's order.
  mutating func sessions() -> [VoiceSession] {
    entries.indices.compactMap { entries[$0].session() }
  }

  /// The sessions' own bytes; those that were rebuilt from events have none.
  var raw: [RawSession] { entries.filter { !$0.isRebuilt }.map(\.raw) }

  /// Whether there is a session.
  var isEmpty: Bool { entries.isEmpty }

  /// Why a session ended, nil when no event told.
  func reason(of id: String) -> String? { reasons[id] }

  /// What is known of a session from its first event.
  private static func rebuilt(_ id: String, _ action: Action) -> RawSession {
    let start = action.createdAt.flatMap { Timestamp(rfc3339: $0) }
    let fields = action.metadata
    var end: Timestamp?
    if let start, let minutes = fields?["maxSessionMinutes"]?.number, minutes > 0, minutes < 1e6 {
      end = start.adding(.seconds(Int64(minutes * 60)))
    }
    let text = SessionJSON.object([
      ("sessionId", SessionJSON.string(id)), ("guildId", SessionJSON.string(action.guild)),
      ("voiceChannelId", SessionJSON.string(fields?["voiceChannelId"]?.text)),
      ("textChannelId", SessionJSON.string(action.channel)),
      ("startedAt", SessionJSON.time(start)), ("lastActivityAt", SessionJSON.time(start)),
      ("maxEndsAt", SessionJSON.time(end)), ("mode", SessionJSON.string(fields?["mode"]?.text)),
    ])
    return RawSession(bytes: Array(text.utf8), id: id, guild: action.guild)
  }
}
