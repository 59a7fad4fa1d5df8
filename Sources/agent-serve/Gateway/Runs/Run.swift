import Core
import Records

/// One message and the reply to it. Belongs to the gateway, which alone changes it.
final class Run {
  struct Waiter {
    /// The connection's number; nil for the gateway itself.
    let peer: Int?
    let call: (Run) -> Void
  }

  private static let mostWaiters = 100

  enum Outcome: Equatable, Sendable {
    case reply
    case aborted
    case failed(String, kind: String)
  }

  enum Part: Sendable {
    /// Text to append; or the whole text, where it begins anew.
    case text(String, replaces: Bool)
    case ended(Outcome, String)
  }

  let id: String
  let session: SessionKey
  var message: String
  /// How long the reply may take, seconds.
  let seconds: Double
  var members: Set<Int> = []
  var seenBy: Set<Int> = []
  var text = ReplyText()
  var notes = RunNotes()
  var sequence = 0
  var lastFlush = ContinuousClock.now - .seconds(1)
  var isFlushPlanned = false
  var process: CommandProcess?
  var approval: String?
  var started: Timestamp?
  var ended: Timestamp?
  var outcome: Outcome?
  /// What the store knows the reply by; nil for one that is empty or lost.
  var kept: Int64?
  var readers: [AsyncStream<Part>.Continuation] = []
  var waiters: [Int: Waiter] = [:]
  var timers: [Int: Task<Void, any Error>] = [:]

  init(id: String, session: SessionKey, message: String, seconds: Double) {
    (self.id, self.session, self.message, self.seconds) = (id, session, message, seconds)
  }

  var isCrowded: Bool { waiters.count >= Self.mostWaiters }

  func leave(_ peer: Int) {
    members.remove(peer)
    for (number, waiter) in waiters where waiter.peer == peer {
      waiters[number] = nil
      timers.removeValue(forKey: number)?.cancel()
    }
  }

  var status: String {
    switch outcome {
    case nil: "in_flight"
    case .reply: "ok"
    case .aborted: "aborted"
    case .failed: "error"
    }
  }
}

struct RunNotes {
  static let mostCalls = 1000

  var lines = 0
  var faults: FaultLog?
  var calls: [String: Bool] = [:]
  var names: [String: String] = [:]
  var thought = ""
  var usage = JSONNode.absent
}

/// Where something is said: `agent:AGENT:NAME`.
struct SessionKey: Hashable, Sendable {
  static let agent = "main"
  static let main = SessionKey(name: "main")

  let name: String

  private init(name: String) { self.name = name }

  var text: String { "agent:\(Self.agent):\(name)" }

  init(_ text: String) throws(GatewayFault) {
    guard let key = GatewayKey(text),
      text.unicodeScalars.allSatisfy({ !Visible.mustEscape($0) }),
      key.agent != nil || !key.name.hasPrefix("agent:")
    else { throw .invalid("invalid session key") }
    if let agent = key.agent { try Self.check(agent: agent) }
    let riff = "agent:\(Self.agent):riff:"
    name = text.hasPrefix(riff) ? "riff:" + text.dropFirst(riff.count) : key.name
  }

  static func check(agent: String) throws(GatewayFault) {
    if agent != Self.agent { throw .invalid("unknown agent id") }
  }
}
