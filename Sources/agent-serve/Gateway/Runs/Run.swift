import Core
import Records

/// One message and the reply to it. Belongs to the gateway, which alone changes it.
final class Run {
  /// Who waits for its end.
  struct Waiter {
    /// The connection's number; nil for the gateway itself.
    let peer: Int?
    let call: (Run) -> Void
  }

  /// How many may wait for one.
  private static let mostWaiters = 100

  /// How it ended.
  enum Outcome: Equatable, Sendable {
    /// With a reply, which may be empty.
    case reply
    /// Somebody wanted it.
    case aborted
    /// With an error, of one of the kinds of the contract.
    case failed(String, kind: String)
  }

  /// A part of its reply, for who reads it as it comes.
  enum Part: Sendable {
    /// Text to append; or the whole text, where it begins anew.
    case text(String, replaces: Bool)
    /// The end, with the whole text.
    case ended(Outcome, String)
  }

  /// The idempotency key of the message.
  let id: String
  /// The conversation, its whole key.
  let session: SessionKey
  /// What was said; empty when the run has ended.
  var message: String
  /// How long the reply may take, seconds.
  let seconds: Double
  /// The connections that take part.
  var members: Set<Int> = []
  /// The connections that have got text of it.
  var seenBy: Set<Int> = []
  /// The reply so far.
  var text = ReplyText()
  /// What its command said of its work.
  var notes = RunNotes()
  /// Counts its events.
  var sequence = 0
  /// When text was sent last.
  var lastFlush = ContinuousClock.now - .seconds(1)
  /// Whether text will be sent soon.
  var isFlushPlanned = false
  /// What makes the reply; nil before and after.
  var process: CommandProcess?
  /// The approval that it waits for.
  var approval: String?
  /// When it began to be worked on; nil as long as it waits for its turn.
  var started: Timestamp?
  /// When it ended.
  var ended: Timestamp?
  /// How it ended; nil as long as it goes on.
  var outcome: Outcome?
  /// What the store knows the reply by; nil for one that is empty or lost.
  var kept: Int64?
  /// Who reads the reply as it comes.
  var readers: [AsyncStream<Part>.Continuation] = []
  /// Who waits for its end, by a number.
  var waiters: [Int: Waiter] = [:]
  /// What ends the patience of some of them, by the same number.
  var timers: [Int: Task<Void, any Error>] = [:]

  init(id: String, session: SessionKey, message: String, seconds: Double) {
    (self.id, self.session, self.message, self.seconds) = (id, session, message, seconds)
  }

  /// Whether nobody else may wait for its end.
  var isCrowded: Bool { waiters.count >= Self.mostWaiters }

  /// Forgets a connection that is gone.
  func leave(_ peer: Int) {
    members.remove(peer)
    for (number, waiter) in waiters where waiter.peer == peer {
      waiters[number] = nil
      timers.removeValue(forKey: number)?.cancel()
    }
  }

  /// What the answer to a request for its end holds beside the run's id.
  var status: String {
    switch outcome {
    case nil: "in_flight"
    case .reply: "ok"
    case .aborted: "aborted"
    case .failed: "error"
    }
  }
}

/// Where something is said: `agent:AGENT:NAME`.
struct SessionKey: Hashable, Sendable {
  /// The one agent that there is.
  static let agent = "main"
  /// The conversation that is meant where none is named.
  static let main = SessionKey(name: "main")

  /// What comes behind the agent.
  let name: String

  private init(name: String) { self.name = name }

  /// As clients see it.
  var text: String { "agent:\(Self.agent):\(name)" }

  init(_ text: String) throws(GatewayFault) {
    guard text.unicodeScalars.allSatisfy({ !Visible.mustEscape($0) }) else {
      throw .invalid("invalid session key")
    }
    guard let key = GatewayKey(text) else { throw .invalid("invalid session key") }
    if let agent = key.agent { try Self.check(agent: agent) }
    guard key.agent != nil || !key.name.hasPrefix("agent:") else {
      throw .invalid("invalid session key")
    }
    let riff = "agent:\(Self.agent):riff:"
    name = text.hasPrefix(riff) ? "riff:" + text.dropFirst(riff.count) : key.name
  }

  /// Whether there is such an agent.
  static func check(agent: String) throws(GatewayFault) {
    if agent != Self.agent { throw .invalid("unknown agent id") }
  }
}
