import Core
import Records

/// One message and the reply to it. Belongs to the gateway, which alone changes it.
final class Run {
  struct Waiter {
    /// The connection's number; nil for the gateway itself.
    let peer: Int?
    let call: (Run) -> Void
    /// When it has waited for long enough.
    var timer: Task<Void, any Error>?
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

  init(id: String, session: SessionKey, message: String, seconds: Double) {
    (self.id, self.session, self.message, self.seconds) = (id, session, message, seconds)
  }

  var isCrowded: Bool { waiters.count >= Self.mostWaiters }

  func leave(_ peer: Int) {
    members.remove(peer)
    for (number, waiter) in waiters where waiter.peer == peer {
      waiter.timer?.cancel()
      waiters[number] = nil
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

/// The text of a reply as it comes out of a command, piece by piece.
///
/// Line ends are held back until something follows them: the one that ends a command's
/// output is not part of the reply. A form feed begins the reply anew.
struct ReplyText: Sendable {
  /// The text so far, valid UTF-8.
  private(set) var bytes: [UInt8] = []
  private(set) var isReplaced = false
  private var taken = 0
  /// The beginning of a character whose rest has not come.
  private var unfinished: [UInt8] = []
  private var lineEnds: [UInt8] = []

  var text: String { String(decoding: bytes, as: UTF8.self) }

  var takenText: String { String(decoding: bytes.prefix(taken), as: UTF8.self) }

  var hasNews: Bool { isReplaced || taken < bytes.count }

  mutating func add(_ output: [UInt8]) {
    var input = unfinished + output
    let cut = Self.unfinishedTail(input)
    unfinished = Array(input.suffix(cut))
    input.removeLast(cut)
    append(Array(String(decoding: input, as: UTF8.self).utf8))
  }

  mutating func finish() {
    append(Array(String(decoding: unfinished, as: UTF8.self).utf8))
    unfinished = []
  }

  mutating func take() -> (text: String, replaces: Bool) {
    defer { (taken, isReplaced) = (bytes.count, false) }
    return isReplaced
      ? (text, true) : (String(decoding: bytes.dropFirst(taken), as: UTF8.self), false)
  }

  private mutating func append(_ valid: [UInt8]) {
    var valid = valid[...]
    if let feed = valid.lastIndex(of: 0x0c) {
      valid = valid[(feed + 1)...]
      isReplaced = isReplaced || !bytes.isEmpty
      (bytes, lineEnds, taken) = ([], [], 0)
    }
    let end = valid.lastIndex { $0 != 0x0a && $0 != 0x0d }.map { $0 + 1 } ?? valid.startIndex
    if end > valid.startIndex {
      bytes += lineEnds
      bytes += valid[..<end]
      lineEnds = []
    }
    lineEnds += valid[end...]
  }

  private static func unfinishedTail(_ bytes: [UInt8]) -> Int {
    for back in 1...3 where back <= bytes.count {
      let byte = bytes[bytes.count - back]
      if byte & 0xc0 == 0x80 { continue }
      let length =
        switch byte {
        case 0xc2...0xdf: 2
        case 0xe0...0xef: 3
        case 0xf0...0xf4: 4
        default: 1
        }
      return length > back ? back : 0
    }
    return 0
  }
}
