import Core
import Records
import Web

/// Single questions to a Pincer server: a JSON object there, a JSON object back (Agent/Pincer/CONTRACT.md 1.1).
struct PincerCalls {
  struct Reply {
    let value: JSONValue
    let bytes: [UInt8]
  }

  /// What came of a question.
  enum Outcome {
    case reply(Reply)
    /// What was asked may have been done or not; one line.
    case network(String)
    case refused(Failure, ConnectError?)

    /// Why there is no reply; nil where there is one.
    var problem: Failure? {
      switch self {
      case .reply: nil
      case .network(let reason): Failure(reason, .temporary)
      case .refused(let problem, _): problem
      }
    }
  }

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
      return .refused(error, nil)
    }
    return outcome(try waiter.end(of: request, silence: Self.patience, until: until))
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
    case .failed(let reason): return .network(reason)
    case .late: return .network("no answer")
    case .unusable(let failure): return .refused(failure, nil)
    case .response(let head, let body):
      let value = body.withUnsafeBytes { try? JSONValue.parse($0) }
      if let problem = server.problem(of: head, body, method: "POST") {
        return .refused(problem, ConnectError(reading: value))
      }
      guard let value, value.isObject else {
        let problem = Failure("\(head.summary): not an answer of a Pincer server", .failure)
        return .refused(problem, nil)
      }
      return .reply(Reply(value: value, bytes: body))
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
