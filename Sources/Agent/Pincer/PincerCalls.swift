import Core
import Records
import Web

/// Single questions to a Pincer server: a JSON object there, a JSON object back (Agent/Pincer/CONTRACT.md 1.1).
struct PincerCalls {
  /// A whole answer.
  struct Reply {
    /// The object.
    let value: JSONValue
    /// As it came.
    let bytes: [UInt8]
  }

  /// Why there is none.
  enum Failure: Error {
    /// What was asked may have been done or not; one line.
    case network(String)
    /// The server refused, for this reason where it is a Connect server.
    case refused(AnswerProblem, ConnectError?)

    /// For a command that asked once.
    var problem: AnswerProblem {
      switch self {
      case .network(let reason): AnswerProblem(reason, .temporary)
      case .refused(let problem, _): problem
      }
    }
  }

  typealias Outcome = Result<Reply, Failure>

  /// Who is asked.
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
  ) -> Result<Fetch, Failure> {
    request(method, question).map { Fetch(client, $0, now: Clock.monotonic, silence: silence) }
  }

  /// Asks, and waits.
  ///
  /// - Parameters: as of `begin`, and when it is given up, seconds of `Clock.monotonic`.
  func ask(
    _ method: PincerMethod, _ question: RecordText = RecordText(), _ waiter: Waiter,
    until: Double = .infinity
  ) throws(LinkEnd) -> Outcome {
    switch request(method, question) {
    case .failure(let failure): return .failure(failure)
    case .success(let request):
      return outcome(try waiter.end(of: request, silence: Self.patience, until: until))
    }
  }

  private func request(
    _ method: PincerMethod, _ question: RecordText
  ) -> Result<Request, Failure> {
    do throws(SettingsError) {
      var request = try server.request(method.path, method: "POST", body: question.bytes)
      request.mayRepeat = method.isReading
      return .success(request)
    } catch {
      return .failure(.refused(AnswerProblem(error.message, error.status), nil))
    }
  }

  /// What the end of a question means.
  func outcome(_ end: FetchEnd) -> Outcome {
    switch end {
    case .failed(let reason): return .failure(.network(reason))
    case .late: return .failure(.network("no answer"))
    case .unusable(let reason): return .failure(.refused(AnswerProblem(reason, .failure), nil))
    case .response(let head, let body):
      let value = body.withUnsafeBytes { try? JSONValue.parse($0) }
      if let problem = server.problem(of: head, body, method: "POST") {
        return .failure(.refused(problem, ConnectError(reading: value)))
      }
      guard let value, value.isObject else {
        let problem = AnswerProblem("\(head.summary): not an answer of a Pincer server", .failure)
        return .failure(.refused(problem, nil))
      }
      return .success(Reply(value: value, bytes: body))
    }
  }
}

extension AgentServer {
  /// What an answer means that is not the stream which was asked for.
  func pincerProblem(_ head: ResponseHead, _ body: [UInt8]) -> AnswerProblem {
    problem(of: head, body, method: "POST")
      ?? AnswerProblem("\(head.summary): not a stream of a Pincer server", .failure)
  }

  /// What a refusal of a Connect server means that came within a stream.
  func problem(of error: ConnectError, _ head: ResponseHead) -> AnswerProblem {
    AnswerProblem(words(for: error, head), error.code.status)
  }

  /// The same in words. Of a token that does not hold the server says no more than that;
  /// which one it was, it does not know.
  func words(for error: ConnectError, _ head: ResponseHead) -> String {
    let isToken = error.code == .unauthenticated && ["", "unauthorized"].contains(error.message)
    return isToken ? refusal : error.line(head)
  }
}
