import Core
import Records
import Web

/// Single questions to a Pincer server: a JSON object there, a JSON object back (Agent/Pincer/CONTRACT.md 1.1).
struct PincerCalls {
  struct Reply {
    let value: JSONValue
    let bytes: [UInt8]
  }

  /// Why there is no reply. Where it is `temporary`, what was asked may have been done or not.
  struct Refusal: Error {
    let problem: Failure
    var error: ConnectError?

    /// Whether a text that is not UTF-8 keeps the server from answering.
    var isUnreadable: Bool { error?.code == .internal && error?.message.holds("UTF-8") == true }
  }

  typealias Outcome = Result<Reply, Refusal>

  let server: AgentServer
  private let client: WebClient

  /// The longest silence of an answer, seconds.
  static let patience = 15.0

  init(_ client: WebClient, _ server: AgentServer) {
    self.client = client
    self.server = server
  }

  /// Asks; `outcome(_:)` says what the end means.
  ///
  /// - Parameters:
  ///   - method: what for.
  ///   - question: an object; an empty one is needed, too.
  ///   - silence: seconds without a byte after which it is given up.
  func begin(
    _ method: PincerMethod, _ question: RecordText = RecordText(), silence: Double = patience
  ) throws(Failure) -> Fetch {
    Fetch(client, try request(method, question), now: Clock.monotonic, silence: silence)
  }

  /// Asks, and waits.
  ///
  /// - Parameters: as of `begin`, and when it is given up, seconds of `Clock.monotonic`.
  func ask(
    _ method: PincerMethod, _ question: RecordText = RecordText(), _ waiter: Waiter,
    until: Double = .infinity
  ) throws(LinkEnd) -> Outcome {
    let request: Request
    do throws(Failure) { request = try self.request(method, question) } catch {
      return .failure(Refusal(problem: error))
    }
    return outcome(try waiter.end(of: request, silence: Self.patience, until: until))
  }

  /// Asks for what a link cannot do without, and waits.
  func get(
    _ method: PincerMethod, _ question: RecordText = RecordText(), _ waiter: Waiter
  ) throws(LinkEnd) -> Reply {
    switch try ask(method, question, waiter) {
    case .success(let reply): return reply
    case .failure(let refusal): throw LinkEnd(refusal.problem)
    }
  }

  /// All rows of a list, over its pages.
  func rows(_ method: PincerMethod, _ waiter: Waiter) throws(LinkEnd) -> [[UInt8]] {
    var (rows, pages): ([[UInt8]], PincerPages) = ([], PincerPages())
    while true {
      let question = RecordText().number("pageSize", 100).string("pageToken", pages.token)
      let reply = try get(method, question, waiter)
      rows += PincerPages.items(reply.bytes)
      if try !LinkEnd.ifFailed(pages.turn(reply.value, at: server.base.display)) { return rows }
    }
  }

  /// The number of the last event of a thread, which comes with any page of its messages; nil where it
  /// is none.
  func lastSequence(of thread: String, _ waiter: Waiter) throws(LinkEnd) -> Int64? {
    var place = 0
    while true {
      switch try ask(.listThreadMessages, PincerMessages.question(thread, at: place), waiter) {
      case .success(let reply): return reply.value.pincerNumber("lastSequence")
      case .failure(let refusal):
        guard refusal.isUnreadable, place < PincerMessages.furthest else {
          throw LinkEnd(refusal.problem)
        }
        place = PincerMessages.other(than: place)
      }
    }
  }

  /// The events of a thread behind a number, as they come.
  func watch(
    _ thread: String, behind last: Int64, _ waiter: Waiter, limit: Int? = nil
  ) throws(LinkEnd) -> ConnectReply {
    let question = RecordText().string("threadId", thread).string("fromSequence", String(last))
    return try stream(.watchThread, question, waiter, limit: limit)
  }

  func stream(
    _ method: PincerMethod, _ question: RecordText, _ waiter: Waiter, limit: Int? = nil,
    onSend: (() -> Bool)? = nil
  ) throws(LinkEnd) -> ConnectReply {
    let request = try LinkEnd.ifFailed(server.request(method.path, method: "POST", body: []))
    return ConnectReply(
      waiter, request, message: question.bytes, limit: limit ?? ConnectReply.largest,
      onSend: onSend)
  }

  private func request(
    _ method: PincerMethod, _ question: RecordText
  ) throws(Failure) -> Request {
    var request = try server.request(method.path, method: "POST", body: question.bytes)
    request.mayRepeat = method.isReading
    return request
  }

  /// What the end of a question means.
  func outcome(_ end: FetchEnd) -> Outcome {
    switch end {
    case .failed(let reason): return .failure(Refusal(problem: Failure(reason, .temporary)))
    case .late: return .failure(Refusal(problem: Failure("no answer", .temporary)))
    case .unusable(let failure): return .failure(Refusal(problem: failure))
    case .response(let head, let body):
      let value = try? JSONValue.parse(body)
      if let problem = server.problem(of: head, body, method: "POST") {
        return .failure(Refusal(problem: problem, error: ConnectError(reading: value)))
      }
      guard let value, value.isObject else {
        let problem = Failure("\(head.summary): not an answer of a Pincer server", .failure)
        return .failure(Refusal(problem: problem))
      }
      return .success(Reply(value: value, bytes: body))
    }
  }
}

extension AgentServer {
  func pincerProblem(_ head: ResponseHead, _ body: [UInt8]) -> Failure {
    problem(of: head, body, method: "POST")
      ?? Failure("\(head.summary): not a stream of a Pincer server", .failure)
  }

  func problem(of error: ConnectError, _ head: ResponseHead) -> Failure {
    Failure(words(for: error, head), error.code.status)
  }

  /// The same in words. Of a token that does not hold the server says no more than that;
  /// which one it was, it does not know.
  func words(for error: ConnectError, _ head: ResponseHead) -> String {
    let isToken = error.code == .unauthenticated && ["", "unauthorized"].contains(error.message)
    // Nothing else answers so where no token was sent: by that a Pincer server is known.
    return isToken ? refusal + ": " + error.code.rawValue : error.line(head)
  }
}

/// What a Pincer server can be asked for (Agent/Pincer/CONTRACT.md 3).
enum PincerMethod: String {
  case createPairingCode = "Auth/CreatePairingCode"
  case bindPairingCode = "Auth/BindPairingCode"
  case listDevices = "Devices/ListDevices"
  case revokeDevice = "Devices/RevokeDevice"
  case createThread = "Threads/CreateThread"
  case listThreads = "Threads/ListThreads"
  case listThreadMessages = "Threads/ListThreadMessages"
  case startTurn = "Turns/StartTurn"
  case watchThread = "Events/WatchThread"
  case listApprovals = "Approvals/ListApprovals"
  case approveAction = "Approvals/ApproveAction"
  case rejectAction = "Approvals/RejectAction"
  case listJobs = "Jobs/ListJobs"
  case listSchedules = "Schedules/ListSchedules"
  case listAudit = "System/ListAudit"
  case getPolicySummary = "System/GetPolicySummary"

  var path: String {
    let parts = rawValue.split(separator: "/")
    return "pincer.protocol.v1.\(parts[0])Service/\(parts[1])"
  }

  var isReading: Bool { name.hasPrefix("List") || name.hasPrefix("Get") }

  var name: String { String(rawValue.split(separator: "/")[1]) }
}

/// A value as protobuf writes it in JSON (Agent/Pincer/CONTRACT.md 1.3): a name in lower
/// camel case or in snake case, zeros left out, whole numbers as strings or numbers, enums
/// by name or number.
extension JSONValue {
  func pincer(_ name: String) -> JSONValue? { self[either: name, PincerName.snake(name)] }

  func pincerText(_ name: String) -> String { pincer(name)?.string ?? "" }
  /// Nil where nothing is said.
  func pincerWord(_ name: String) -> String? {
    pincer(name)?.string.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// A whole number; 0 where it was left out, nil for what is none.
  func pincerNumber(_ name: String) -> Int64? {
    guard let value = pincer(name) else { return 0 }
    if let number = value.integer { return number }
    if let text = value.string { return Int64(text) }
    return value.number.flatMap { Int64(exactly: $0) }
  }

  /// The name of an enum's value; nil where it was left out, its number where that has no
  /// name here.
  func pincerEnum(_ name: String, _ names: [String]) -> String? {
    guard let value = pincer(name) else { return nil }
    guard let number = value.integer ?? value.string.flatMap({ Int64($0) }) else {
      return value.string.flatMap { $0.isEmpty || $0.hasSuffix("_UNSPECIFIED") ? nil : $0 }
    }
    if number == 0 { return nil }
    return names.indices.contains(Int(clamping: number) - 1)
      ? names[Int(clamping: number) - 1] : String(number)
  }

  func pincerTime(_ name: String) -> Timestamp? { pincer(name)?.time }
}

enum PincerName {
  /// `toolCallId` as `tool_call_id`.
  static func snake(_ name: String) -> String {
    var text = ""
    for letter in name {
      if letter.isUppercase { text += "_" + letter.lowercased() } else { text.append(letter) }
    }
    return text
  }

  /// `tool_call_id` as `toolCallId`.
  static func camel(_ name: String) -> String {
    let parts = name.split(separator: "_")
    guard parts.count > 1 else { return name }
    return parts.dropFirst().reduce(String(parts[0])) {
      $0 + $1.prefix(1).uppercased() + $1.dropFirst()
    }
  }
}

/// The messages of a thread, page by page. One whose text is not UTF-8 keeps the server from
/// sending its page, for ever (Agent/Pincer/CONTRACT.md 3.4): it is fetched around.
struct PincerMessages {
  private static let largest = 200
  /// Who gives more pages than this never ends.
  private static let most = 100_000

  private let calls: PincerCalls
  private let thread: String
  /// How many messages were passed, and how many are asked for.
  private var (passed, size) = (0, largest)
  private var token: String?
  private var count = 0
  private var isOver = false
  /// The places of messages that the server cannot send, from 1.
  private(set) var missing: [Int] = []

  init(_ calls: PincerCalls, thread: String) { (self.calls, self.thread) = (calls, thread) }

  /// The next page; nil behind the last one.
  mutating func next(_ waiter: Waiter) throws(LinkEnd) -> PincerCalls.Outcome? {
    while !isOver {
      let question = RecordText().string("threadId", thread).number("pageSize", size)
        .string("pageToken", token)
      let outcome = try calls.ask(.listThreadMessages, question, waiter)
      count += 1
      if count > Self.most { isOver = true }
      if case .failure(let refusal) = outcome, refusal.isUnreadable, !isOver {
        if size == 1 {
          passed += 1
          missing.append(passed)
        }
        // A token is the number of messages before its page.
        token = passed == 0 ? nil : String(passed)
        size = max(size / 2, 1)
        continue
      }
      if case .success(let reply) = outcome { turn(reply) }
      return outcome
    }
    return nil
  }

  private mutating func turn(_ reply: PincerCalls.Reply) {
    let next = reply.value.pincerText("nextPageToken")
    isOver = isOver || next.isEmpty || next == token
    token = next
    passed += reply.value.pincer("items")?.count ?? 0
    size = min(size * 2, Self.largest)
  }

  /// What asks for the number of a thread's last event, which comes with any page.
  ///
  /// - Parameter place: of the message that comes with it, from 0.
  static func question(_ thread: String?, at place: Int = 0) -> RecordText {
    RecordText().string("threadId", thread).number("pageSize", 1)
      .string("pageToken", place == 0 ? nil : String(place))
  }

  /// The place of another message to ask for where the one at `place` cannot be sent; there is
  /// an empty page behind the last.
  static func other(than place: Int) -> Int { max(place * 2, 1) }
  /// No thread has so many messages: then there is no other reason to ask on.
  static let furthest = 1 << 32
}
