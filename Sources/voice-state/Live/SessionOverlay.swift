import Core

/// What the events of a session told since its last state, to be shown on top
/// of it; with nothing below it, a session rebuilt from its events alone.
///
/// States come every three seconds and hold no running tool call
/// (Agent/Clanky/CONTRACT.md 4.9); events come at once. A new state takes the place of everything
/// here but the calls that still run.
struct SessionOverlay {
  /// As many as the server keeps.
  static let mostTurns = 220, mostCalls = 180, mostMemberships = 6, mostLatencies = 12
  /// A call that ran longer has ended unheard, seconds.
  static let longestCall: Int64 = 600

  var calls: [OverlayCall] = []
  var turns: [OverlayTurn] = []
  var partials: [String: OverlayPartial] = [:]
  var memberships: [OverlayMembership] = []
  /// Who is there, as far as events told: the name by user.
  var present: [String: String] = [:]
  var gone: Set<String> = []
  /// Who began to speak, and when.
  var speaking: [String: Timestamp] = [:]
  var isAgentSpeaking: Bool?
  var latencies: [OverlayLatency] = []
  var lastActivity: Timestamp?
  var lastReply: Timestamp?
  var lastAddress: (at: Timestamp, user: String?)?
  var attention: String?
  var plays: Double?
  var lastPlay: Timestamp?
  var notes: [(text: String, provider: String?, model: String?, at: Timestamp?)] = []
  var frames: Double?
  var music: SessionJSONMusic?
  /// Names by user id, from whatever event told them.
  var names: [String: String] = [:]
  /// The reason, once the session has ended.
  var ended: String?

  /// A state has come: it knows everything but the calls that run.
  mutating func settle(_ state: [UInt8], at now: Timestamp?) {
    var kept = SessionOverlay()
    kept.names = names
    guard calls.contains(where: \.isRunning) else {
      self = kept
      return
    }
    let known = Set(
      SessionJSON.elements(of: "toolCalls", in: state).compactMap { Self.id(ofCall: $0) })
    kept.calls = calls.filter { call in
      guard call.isRunning, !known.contains(call.id) else { return false }
      guard let now, let start = call.startedAt else { return true }
      return now.seconds - start.seconds < Self.longestCall
    }
    self = kept
  }

  /// The link was lost: ends of calls may have been missed.
  mutating func forgetRunning() { calls.removeAll(where: \.isRunning) }

  private static func id(ofCall text: String) -> String? {
    Array(text.utf8).withUnsafeBytes {
      (try? ScanMembers.value(of: "callId", in: $0))?.string
    }
  }

  mutating func add(_ turn: OverlayTurn) {
    var turn = turn
    // One turn is told by several events: recognised, finalized.
    let isTold = turns.suffix(4).contains { other in
      guard other.text == turn.text, other.isAgent == turn.isAgent else { return false }
      guard let one = other.at, let two = turn.at else { return true }
      return abs(two.seconds - one.seconds) <= 10
    }
    if isTold { return }
    if turn.speaker?.isEmpty == true { turn.speaker = nil }
    turns.append(turn)
    if turns.count > Self.mostTurns { turns.removeFirst() }
  }

  mutating func change(call id: String, _ body: (inout OverlayCall) -> Void) {
    if let index = calls.lastIndex(where: { $0.id == id }) {
      body(&calls[index])
      return
    }
    var call = OverlayCall(id: id)
    body(&call)
    calls.append(call)
    if calls.count > Self.mostCalls { calls.removeFirst() }
  }
}

/// What events tell of music: little.
struct SessionJSONMusic {
  var phase: String
  var title: String?
  var query: String?
  var at: Timestamp?
}
