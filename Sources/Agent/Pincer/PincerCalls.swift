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
      do throws(Failure) {
        if !(try pages.turn(reply.value, at: server.base.display)) { return rows }
      } catch {
        throw .failed(Failure(error.reason, .failure))
      }
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
    do throws(Failure) { return try stream(.watchThread, question, waiter, limit: limit) } catch {
      throw .failed(error)
    }
  }

  func stream(
    _ method: PincerMethod, _ question: RecordText, _ waiter: Waiter, limit: Int? = nil,
    onSend: (() -> Bool)? = nil
  ) throws(Failure) -> ConnectReply {
    ConnectReply(
      waiter, try server.request(method.path, method: "POST", body: []), message: question.bytes,
      limit: limit ?? ConnectReply.largest, onSend: onSend)
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

extension LinkEnd {
  /// What keeps a server from doing what a link needs.
  init(_ problem: Failure) {
    self = problem.status == .temporary ? .lost(problem.message) : .failed(problem)
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
