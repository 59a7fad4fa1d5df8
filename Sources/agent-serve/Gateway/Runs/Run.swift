import Core
import Records

/// One message and the reply to it. Belongs to the gateway, which alone changes it.
final class Run {
  /// Of a connection's number, nil for the gateway itself; the timer says when it has waited for
  /// long enough.
  typealias Waiter = (peer: Int?, call: (Run) -> Void, timer: Task<Void, any Error>?)

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

struct Approval {
  private static let mostWaiters = 100

  let id: String
  let request: [UInt8]
  let allowed: [ApprovalDecision]
  let created: Timestamp
  let expires: Timestamp
  var decision: ApprovalDecision?
  var isGone = false
  /// Who has decided, and when it was over.
  var resolver: String?
  var ended: Timestamp?
  /// Each of a connection's number; nil for the gateway itself.
  var waiters: [(peer: Int?, call: @Sendable (ApprovalDecision?) -> Void)] = []
  var timer: Task<Void, any Error>?

  var isPending: Bool { decision == nil && !isGone }

  var isCrowded: Bool { waiters.count >= Self.mostWaiters }

  var head: JSONNode {
    ["id": .text(id), "createdAtMs": .time(created), "expiresAtMs": .time(expires)]
  }

  var node: JSONNode { head.adding(["request": .raw(request)]) }

  /// How it stands, also behind its end.
  var fate: JSONNode {
    let asked = request.withUnsafeBytes { try? JSONValue.parse($0) }
    func word(_ name: String) -> JSONNode { asked?[name]?.string.map { .text($0) } ?? .null }
    let argv = asked?["commandArgv"]?.elements.compactMap(\.string).joined(separator: " ")
    let status =
      isPending ? "pending" : decision.map { $0 == .deny ? "denied" : "allowed" } ?? "expired"
    return head.adding([
      "status": .text(status),
      "presentation": [
        "kind": "exec", "commandText": .text(asked?["command"]?.string ?? argv ?? ""),
        "commandPreview": word("commandPreview"), "host": word("host"),
        "agentId": word("agentId"), "allowedDecisions": .texts(allowed.map(\.rawValue)),
      ],
      "resolvedAtMs": ended.map { .time($0) } ?? .absent,
      "reason": isPending ? .absent : decision == nil ? "timeout" : "user",
      "decision": .text(decision?.rawValue),
      "source": ["agentId": word("agentId"), "sessionKey": word("sessionKey")],
      "resolver": resolver.map { ["kind": "client", "id": .text($0)] } ?? .absent,
    ])
  }
}

/// The approvals: those that wait, and for a while those that were decided.
struct Approvals {
  static let limit = 100
  private static let keptDecisions = 100

  private var all: [Approval] = []

  var pending: [Approval] { all.filter(\.isPending) }

  func find(_ id: String) -> Approval? { all.first { $0.id == id } }

  mutating func add(_ approval: Approval) {
    all.append(approval)
    let over = all.filter { !$0.isPending }
    if over.count > Self.keptDecisions, let oldest = over.first {
      all.removeAll { $0.id == oldest.id }
    }
  }

  /// Decides about one that waits, or gives it up with nil, and tells those who wait.
  mutating func settle(_ id: String, _ decision: ApprovalDecision?, by resolver: String? = nil) {
    guard let index = all.firstIndex(where: { $0.id == id && $0.isPending }) else { return }
    all[index].decision = decision
    all[index].isGone = decision == nil
    (all[index].resolver, all[index].ended) = (resolver, .now())
    let waiters = all[index].waiters
    all[index].waiters = []
    all[index].timer?.cancel()
    all[index].timer = nil
    for waiter in waiters { waiter.call(decision) }
  }

  mutating func expire(_ id: String, by timer: Task<Void, any Error>) {
    guard let index = all.firstIndex(where: { $0.id == id && $0.isPending }) else { return }
    all[index].timer = timer
  }

  /// Calls a function with the decision, nil for none; at once when it was made.
  mutating func wait(
    _ id: String, _ peer: Int?, _ body: @escaping @Sendable (ApprovalDecision?) -> Void
  ) {
    guard let index = all.firstIndex(where: { $0.id == id }) else { return body(nil) }
    if all[index].isPending {
      all[index].waiters.append((peer, body))
    } else {
      body(all[index].decision)
    }
  }

  mutating func leave(_ peer: Int) {
    for index in all.indices { all[index].waiters.removeAll { $0.peer == peer } }
  }
}

/// What a reply command says of its work beside the reply: a record of
/// agentutils-records(5), of which it needs to write no more than what it is about.
enum ReplyNote: Equatable {
  struct Tool: Equatable {
    /// By which it is known again in the same reply.
    let id: String
    let name: String
    let label: String?
    let arguments: JSONNode
    /// All that it printed so far; nil for nothing new.
    let output: String?
    let exitCode: Int?
    let milliseconds: Int?
    let state: ToolCallRecord.State
  }

  case tool(Tool)
  case thinking(String)
  case usage(JSONNode)

  /// The longest id or name, bytes.
  private static let longestName = 200

  init(_ line: [UInt8]) throws(Failure) {
    let record: JSONValue
    do {
      record = try line.withUnsafeBytes { try JSONValue.parse($0) }
    } catch {
      throw Failure("not JSON" + ((error as? Failure).map { ": \($0.reason)" } ?? ""))
    }
    switch record["type"]?.string {
    case RecordType.toolCall.rawValue: self = .tool(try Self.tool(record))
    case RecordType.message.rawValue:
      guard record["role"]?.string == MessageRecord.Role.thinking.rawValue else {
        throw Failure("a message whose role is not thinking")
      }
      self = .thinking(try Self.text("text", of: record))
    case RecordType.turn.rawValue: self = .usage(Self.usage(record))
    default: throw Failure("neither a tool_call nor a message nor a turn")
    }
  }

  private static func tool(_ record: JSONValue) throws(Failure) -> Tool {
    let word = record["state"]?.string ?? ToolCallRecord.State.running.rawValue
    guard let state = ToolCallRecord.State(rawValue: word) else {
      throw Failure("a state that is not known")
    }
    let parts = [record["stdout"], record["stderr"]].compactMap { $0?.string }
    return Tool(
      id: try name("id", of: record), name: try name("tool", of: record),
      label: record["label"]?.string ?? record["reason"]?.string,
      arguments: .value(record["arguments"]), output: parts.isEmpty ? nil : parts.joined(),
      exitCode: record["exit_code"]?.integer.map(Int.init(clamping:)),
      milliseconds: record["duration_ms"]?.integer.map(Int.init(clamping:)), state: state)
  }

  private static func usage(_ record: JSONValue) -> JSONNode {
    func number(_ value: JSONValue?) -> JSONNode {
      .number((value?.integer).map { Int(clamping: max($0, 0)) })
    }
    let usage = record["usage"]
    let cost = record["usd_cost"]?.number.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
    return [
      "input": number(usage?["input_tokens"]), "output": number(usage?["output_tokens"]),
      "cost": cost.map { ["total": .raw(Array("\($0)".utf8))] } ?? .absent,
    ]
  }

  private static func name(_ member: String, of record: JSONValue) throws(Failure) -> String {
    let name = try text(member, of: record)
    if name.isEmpty || name.utf8.count > longestName {
      throw Failure("the \(member) is empty or longer than \(longestName) bytes")
    }
    return name
  }

  private static func text(_ member: String, of record: JSONValue) throws(Failure) -> String {
    guard let value = record[member] else { throw Failure("no \(member)") }
    guard let text = value.string else { throw Failure("the \(member) is not a string") }
    return text
  }
}

extension JSONNode: Equatable {
  static func == (one: JSONNode, other: JSONNode) -> Bool { one.bytes == other.bytes }
}
