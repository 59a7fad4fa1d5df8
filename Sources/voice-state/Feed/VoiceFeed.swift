import Agent
import Core

struct VoiceFeed {
  private struct Entry {
    let id: String?
    /// Its last state; nil when there never was one, only events.
    var raw: RawSession?
    var at: Timestamp?
    /// The session before the state, until the state is read.
    var before: LiveSession?
    /// The session as it is now: read when an event or a view needs it.
    var live: LiveSession?

    mutating func read() {
      guard live == nil, let session = raw?.session else { return }
      live = LiveSession(session, after: before, at: at)
      before = nil
    }

    /// Takes a new state.
    mutating func receive(_ state: RawSession, at now: Timestamp?) {
      before = live ?? before
      live = nil
      raw = state
      at = now
    }
  }

  private let filter: SessionFilter
  private let keepsEnded: Bool
  private var entries: [Entry] = []
  /// Whether a state came: then only it tells which sessions there are.
  private(set) var hasState = false
  private(set) var isKnown = false
  private var reasons: [String: String] = [:]

  init(_ filter: SessionFilter = SessionFilter(), keepsEnded: Bool = false) {
    (self.filter, self.keepsEnded) = (filter, keepsEnded)
  }

  /// Takes a state: all sessions that there are.
  mutating func receive(_ state: RawState, at now: Timestamp?) {
    hasState = true
    isKnown = true
    entries = filter.select(state.sessions)
      .map { raw in
        var entry = entries.first { $0.id == raw.id && raw.id != nil } ?? Entry(id: raw.id)
        entry.receive(raw, at: now)
        return entry
      }
  }

  /// Takes one session's state by itself.
  mutating func receive(_ session: RawSession, at now: Timestamp?) {
    guard filter.takes(id: session.id, guild: session.guild) else { return }
    hasState = true
    isKnown = true
    let index = entries.firstIndex { $0.id == session.id } ?? entries.endIndex
    if index == entries.endIndex { entries.append(Entry(id: session.id)) }
    entries[index].receive(session, at: now)
  }

  /// Takes an event; one of a session that is not there begins it when no state
  /// told of any and it did not end before, or when the session itself begins.
  mutating func receive(_ news: VoiceNews) {
    guard let id = news.session, filter.takes(id: id, guild: news.guild) else { return }
    var index = entries.firstIndex { $0.id == id }
    if index == nil {
      switch news.event {
      case .begins: break
      case .ends: return
      default: if hasState || reasons[id] != nil { return }
      }
      reasons[id] = nil
      index = entries.endIndex
      entries.append(Entry(id: id, live: LiveSession(news)))
    }
    guard let index else { return }
    isKnown = true
    entries[index].read()
    guard case .ends(let words) = news.event else {
      entries[index].live?.receive(news)
      return
    }
    if reasons.count >= 100 { reasons = [:] }
    reasons[id] = words.isEmpty ? "ended" : words
    if keepsEnded { entries[index].live?.end() } else { entries.remove(at: index) }
  }

  mutating func linkLost() {
    for index in entries.indices {
      entries[index].live?.forgetRunning()
      entries[index].before?.forgetRunning()
    }
  }

  mutating func sessions() -> [VoiceSession] {
    entries.indices.compactMap { index in
      entries[index].read()
      return entries[index].live?.session
    }
  }

  /// The sessions' own bytes; those that were rebuilt from events have none.
  var raw: [RawSession] { entries.compactMap(\.raw) }

  var isEmpty: Bool { entries.isEmpty }

  func reason(of id: String) -> String? { reasons[id] }
}

struct SessionFilter: Sendable, Equatable {
  var guild: String?
  var session: String?

  func takes(id: String?, guild: String?) -> Bool {
    if let wanted = self.guild, wanted != guild { return false }
    if let wanted = session { return id?.hasPrefix(wanted) == true }
    return true
  }

  /// A whole id means its session alone, not those whose ids begin with it.
  func select(_ sessions: [RawSession]) -> [RawSession] {
    let found = sessions.filter { takes(id: $0.id, guild: $0.guild) }
    let exact = found.filter { $0.id == session }
    return session == nil || exact.isEmpty ? found : exact
  }
}
