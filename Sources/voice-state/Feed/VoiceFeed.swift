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

/// A session as it is now: its last state, changed by each event since; or one that
/// is rebuilt from its events alone.
///
/// States come every few seconds and hold no running tool call; events come at once. A
/// new state replaces everything here but the calls that still run and the names that
/// were told.
struct LiveSession {
  /// As many as the server keeps.
  static let mostTurns = 220, mostCalls = 180, mostMemberships = 6, mostAnswers = 12
  static let mostSeen = 24
  /// A call that ran longer has ended unheard, seconds.
  static let longestCall: Int64 = 600

  private(set) var session: VoiceSession
  /// Whether there never was a state. Only then events tell what states tell
  /// better: the answers' times, music, the screen, whom the bot listens to.
  private let isRebuilt: Bool
  private var names: [String: String] = [:]
  private var answers: [(request: String, turn: VoiceLatency.Turn)] = []

  /// A session that a state tells of.
  init(_ state: VoiceSession, after old: LiveSession?, at now: Timestamp?) {
    session = state
    isRebuilt = false
    guard let old else { return }
    names = old.names
    let known = Set(state.toolCalls.map(\.callId))
    session.toolCalls += old.session.toolCalls.filter { call in
      guard call.isHeard, call.state == .running, !known.contains(call.callId) else { return false }
      guard let now, let start = call.startedAt else { return true }
      return now.seconds - start.seconds < Self.longestCall
    }
  }

  init(_ first: VoiceNews) {
    session = VoiceSession()
    (session.sessionId, session.guildId) = (first.session, first.guild)
    (session.voiceChannelId, session.textChannelId) = (first.voiceChannel, first.textChannel)
    (session.startedAt, session.lastActivityAt) = (first.at, first.at)
    session.mode = first.mode
    if let most = first.mostSeconds { session.maxEndsAt = first.at?.adding(.seconds(most)) }
    isRebuilt = true
  }

  /// The link was lost: ends of calls may have been missed.
  mutating func forgetRunning() {
    session.toolCalls.removeAll { $0.isHeard && $0.state == .running }
  }

  mutating func end() {
    if isRebuilt { session.streamWatch?.active = false }
  }

  /// Takes an event of the session; one that means nothing changes nothing.
  mutating func receive(_ news: VoiceNews) {
    let (user, at) = (news.user, news.at)
    if let user, let name = news.speaker { learn(name, of: user) }
    switch news.event {
    case .begins, .ends, nil: break
    case .personSpeaks:
      session.botTurnOpen = false
      session.lastActivityAt = at ?? session.lastActivityAt
      if let user, let at { speaks(user, at) }
    case .agentSpeaks:
      session.botTurnOpen = true
      session.lastActivityAt = at ?? session.lastActivityAt
      fallSilent { _ in true }
      if isRebuilt, let at { session.conversation.change(.init()) { $0.lastAssistantReplyAt = at } }
    case .agentEnds: session.botTurnOpen = false
    case .partialWords(let text):
      guard let user else { return }
      session.lastActivityAt = at ?? session.lastActivityAt
      hear(text, user, news.speaker ?? name(of: user), at)
    case .words(let text, let isAgent):
      session.lastActivityAt = at ?? session.lastActivityAt
      // The agent is called what the state calls it.
      var told = isAgent ? nil : news.speaker
      if let user, !isAgent {
        told = told ?? name(of: user)
        endWords(of: user)
      }
      add(VoiceTurn(text, by: told, role: isAgent ? "assistant" : "user", at: at))
    case .callBegins(let call):
      // Told twice, by two streams, or after its end: not again.
      if !session.toolCalls.contains(where: { $0.callId == call.callId }) {
        session.toolCalls.append(call, most: Self.mostCalls)
      }
    case .callEnds(let call): end(call)
    case .membership(let event): comesOrGoes(event)
    case .sound(let count):
      session.soundboard.change(.init()) {
        $0.playCount = count ?? $0.playCount + 1
        $0.lastPlayedAt = at
      }
    case .answer, .attention, .seen, .frame, .music: if isRebuilt { rebuild(news) }
    }
  }

  // MARK: - People and words

  private mutating func learn(_ name: String, of user: String) {
    names[user] = name
    for index in session.activeCaptures.indices
    where session.activeCaptures[index].isHeard && session.activeCaptures[index].userId == user {
      session.activeCaptures[index].displayName = name
    }
  }

  /// Whom a user's words are told of: a name, else the first digits of the id.
  private func name(of user: String) -> String {
    names[user] ?? session.name(of: user) ?? String(user.prefix(8))
  }

  private mutating func speaks(_ user: String, _ at: Timestamp) {
    guard let index = session.activeCaptures.firstIndex(where: { $0.userId == user }) else {
      session.activeCaptures.append(VoiceCapture(heard: user, names[user], at: at))
      session.activeInputStreams += 1
      return
    }
    if session.activeCaptures[index].isHeard { session.activeCaptures[index].startedAt = at }
  }

  private mutating func fallSilent(where isMeant: (VoiceCapture) -> Bool) {
    let before = session.activeCaptures.count
    session.activeCaptures.removeAll { $0.isHeard && isMeant($0) }
    session.activeInputStreams -= before - session.activeCaptures.count
  }

  private mutating func hear(_ text: String, _ user: String, _ name: String, _ at: Timestamp?) {
    let index =
      session.asrSessions.firstIndex { $0.userId == user } ?? session.asrSessions.endIndex
    if index == session.asrSessions.endIndex {
      session.asrSessions.append(VoiceASRSession(heard: user, name, at: at))
    }
    session.asrSessions[index].utterance.change(.init()) { $0.partialText = text }
  }

  private mutating func endWords(of user: String) {
    session.asrSessions.removeAll { $0.isHeard && $0.userId == user }
    for index in session.asrSessions.indices where session.asrSessions[index].userId == user {
      session.asrSessions[index].utterance?.partialText = nil
    }
    fallSilent { $0.userId == user }
  }

  private mutating func add(_ turn: VoiceTurn) {
    let isTold = session.recentTurns.suffix(4).contains { other in
      guard other.text == turn.text, other.role == turn.role else { return false }
      guard let one = other.at, let two = turn.at else { return true }
      return abs(two.seconds - one.seconds) <= 10
    }
    if !isTold { session.recentTurns.append(turn, most: Self.mostTurns) }
  }

  private mutating func comesOrGoes(_ event: VoiceMembershipEvent) {
    session.membershipEvents.append(event, most: Self.mostMemberships)
    guard let user = event.userId else { return }
    if event.eventType != "join" {
      session.participants.removeAll { $0.userId == user }
    } else if !session.participants.contains(where: { $0.userId == user }) {
      session.participants.append(
        VoiceParticipant(userId: user, displayName: event.displayName ?? user))
    }
    session.participantCount = session.participants.count
    if let name = event.displayName { learn(name, of: user) }
  }

  // MARK: - Tools

  private mutating func end(_ call: VoiceToolCall) {
    guard let id = call.callId,
      let index = session.toolCalls.lastIndex(where: { $0.callId == id })
    else { return session.toolCalls.append(call, most: Self.mostCalls) }
    var ended = call
    let begun = session.toolCalls[index]
    ended.toolName = begun.toolName ?? call.toolName
    ended.toolType = begun.toolType ?? call.toolType
    ended.serverName = begun.serverName
    ended.arguments = begun.arguments ?? call.arguments
    ended.startedAt = begun.startedAt ?? call.startedAt
    session.toolCalls[index] = ended
  }

  // MARK: - What only a session without a state takes from events

  private mutating func rebuild(_ news: VoiceNews) {
    let at = news.at
    switch news.event {
    case .answer(let request, let stages): answer(request, stages, at)
    case .attention(let wake, let isDirect):
      guard wake != nil || isDirect else { return }
      session.conversation.change(.init()) { conversation in
        conversation.wake = wake ?? conversation.wake
        guard isDirect, let at else { return }
        conversation.lastDirectAddressAt = at
        conversation.lastDirectAddressUserId = news.user
      }
    case .seen(let seen):
      session.streamWatch.change(.init(active: true)) {
        $0.visualFeed.append(seen, most: Self.mostSeen)
        $0.noteCount = ($0.noteCount ?? 0) + 1
        $0.lastNoteAt = at
      }
    case .frame(let total):
      session.streamWatch.change(.init(active: true)) {
        $0.ingestedFrameCount = total ?? ($0.ingestedFrameCount ?? 0) + 1
      }
    case .music(let phase, let title, let query):
      session.music.change(.init()) {
        $0.phase = phase
        $0.active = phase != "idle"
        $0.lastTrackTitle = title ?? $0.lastTrackTitle
        $0.lastQuery = query ?? $0.lastQuery
      }
    default: break
    }
  }

  private mutating func answer(_ request: String, _ stages: VoiceLatency.Stages, _ at: Timestamp?) {
    var turn = VoiceLatency.Turn()
    if let index = answers.firstIndex(where: { $0.request == request }) {
      turn = answers.remove(at: index).turn
    }
    turn.at = at
    turn.stages.add(stages)
    guard turn.stages.totalMs != nil else { return }
    answers.append((request, turn), most: Self.mostAnswers)
    let turns = answers.map(\.turn)
    session.latency.change(.init()) {
      $0.recentTurns = turns.suffix(8).reversed()
      $0.averages = .init(averageOf: turns)
    }
  }
}

extension Optional {
  fileprivate mutating func change(
    _ empty: @autoclosure () -> Wrapped, _ body: (inout Wrapped) -> Void
  ) {
    var value = self ?? empty()
    body(&value)
    self = value
  }
}

extension Array {
  fileprivate mutating func append(_ element: Element, most: Int) {
    append(element)
    if count > most { removeFirst() }
  }
}
