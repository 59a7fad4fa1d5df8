import Core
import Records
import Web

/// Asks a gateway one thing and waits for the answer: a connection for each question.
final class GatewayCaller {
  private let caller: Caller
  private let wishes: GatewayAuth.Wishes
  /// Why the last call was refused; nil where it was not, or no answer came.
  private(set) var refusal: GatewayError?
  /// The greeting of the last connection.
  private(set) var hello: GatewayHello?
  /// What was granted; empty where that is not said.
  private(set) var granted: [String] = []

  /// - Parameter more: what is asked for, too, and done without where it is not granted.
  init(_ caller: Caller, scopes: [GatewayScope], more: [GatewayScope] = []) {
    self.caller = caller
    wishes = GatewayAuth.Wishes(scopes: scopes, more: more)
  }

  /// Asks with one member more, and without it a gateway that is too old to know that.
  func call(
    _ method: String, _ params: RecordText = RecordText(), late name: String, _ value: String
  ) throws(Failure) -> [UInt8] {
    do throws(Failure) { return try call(method, params.json(name, value)) } catch {
      guard refusal?.names(name) == true else { throw error }
      return try call(method, params)
    }
  }

  func call(_ method: String, _ params: RecordText = RecordText()) throws(Failure) -> [UInt8] {
    refusal = nil
    let keys: GatewayKeys
    keys = try GatewayKeys(try AgentAccess(caller))
    let question = Question(caller, keys.server)
    caller.diagnostics.note("\(method) at \(question.place)")
    let start = Clock.monotonic
    var auth = GatewayAuth(keys, wishes)
    question.follow { () throws(LinkEnd) in
      let gateway = try Gateway.connect(question, &auth, keys.server)
      hello = gateway.hello
      granted = gateway.hello.scopes ?? wishes.scopes.map(\.rawValue)
      if let words = auth.notGranted() { caller.diagnostics.say(words) }
      if auth.isByDevice { caller.diagnostics.note(GatewayAuth.byDevice) }
      // The time of the command ends it, not that of one question.
      let number = gateway.ask(method, params, time: .infinity)
      do throws(LinkEnd) {
        while true {
          guard case .reply(number, let reply) = try gateway.receive() else { continue }
          switch reply {
          case .answer(let payload):
            question.result = .success(
              payload.isAbsent ? Array("null".utf8) : Array(payload.bytes))
          case .refused(let error):
            refusal = error
            let problem = GatewayChat.problem(error)
            question.fail(method, problem.message, problem.status)
          case .late: question.fail(method, "no answer came in time", .temporary)
          }
          throw LinkEnd.over
        }
      } catch {
        if case .over = error { throw error }
        question.fail(method, "the connection was lost before an answer came", .temporary)
        throw .over
      }
    }
    guard let result = question.result else { throw caller.late(question.place) }
    caller.diagnostics.note("an answer in \(Latency.text(Clock.monotonic - start)) ms")
    return try result.get()
  }

  private final class Question: StreamLoop {
    var result: Result<[UInt8], Failure>?
    private let caller: Caller
    private let limit: Double

    init(_ caller: Caller, _ server: AgentServer) {
      self.caller = caller
      limit = caller.maxTime == nil ? Clock.monotonic + Caller.requestTime : caller.deadline
      var policy = StreamPolicy()
      policy.maxRetries = 0
      policy.idleTimeout = .infinity
      super.init(caller.client, server.base.socketDisplay, policy) { server.problem(of: $0, $1) }
    }

    func fail(_ what: String, _ reason: String, _ status: ExitStatus) {
      if result == nil { result = .failure(Failure(what, reason, status)) }
    }

    override var isOver: Bool { result != nil }
    override func willWait() throws(LinkEnd) -> Double {
      if isOver || Clock.monotonic >= limit { throw .over }
      return limit
    }
    override func ended(_ end: StreamEnd, at place: String) {
      fail(self.place, end.problem.message, end.problem.status)
    }
    override func fault(_ reason: String, at place: String?) { caller.diagnostics.say(reason) }
  }
}

extension AgentAccess {
  fileprivate init(_ caller: Caller) throws(Failure) {
    guard let profile = caller.backend.profile else {
      throw Failure(caller.backend.base.display, "no profile stands for this address")
    }
    self.profile = profile
    backend = caller.backend
    client = caller.client
    options = AccessOptions()
  }
}
