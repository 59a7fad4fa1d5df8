import Core
import Records
import Web

/// Asks a gateway one thing and waits for the answer: a connection for each question.
final class GatewayCaller {
  private let caller: Caller
  private let scopes: [GatewayScope]
  private var link: GatewayLink?
  private var question: (method: String, params: RecordText)?
  private var result: Result<[UInt8], CallFailure>?

  init(_ caller: Caller, scopes: [GatewayScope]) {
    self.caller = caller
    self.scopes = scopes
  }

  /// Asks, and waits.
  func call(_ method: String, _ params: RecordText = RecordText()) throws(CallFailure) -> [UInt8] {
    let keys: GatewayKeys
    do throws(SettingsError) {
      keys = try GatewayKeys(try AgentAccess(caller))
    } catch {
      throw CallFailure(error)
    }
    var policy = StreamPolicy()
    policy.maxRetries = 0
    policy.idleTimeout = .infinity
    let link = GatewayLink(
      caller.client, keys, wishes: GatewayDoor.Wishes(scopes: scopes), policy: policy, owner: self)
    self.link = link
    question = (method, params)
    defer {
      link.stop()
      self.link = nil
    }
    caller.diagnostics.note("\(method) at \(link.place)")
    let start = Clock.monotonic
    let limit = caller.maxTime == nil ? start + Caller.requestTime : caller.deadline
    while true {
      caller.client.perform()
      let next = link.tick(now: Clock.monotonic)
      if let result {
        caller.diagnostics.note("an answer in \(Latency.text(Clock.monotonic - start)) ms")
        return try result.get()
      }
      let now = Clock.monotonic
      if now >= limit { throw caller.late(link.place) }
      caller.client.wait(seconds: min(min(next, limit) - now, 60))
    }
  }

  private func fail(_ what: String, _ reason: String, _ status: ExitStatus) {
    if result == nil { result = .failure(CallFailure(what, reason, status)) }
  }
}

extension GatewayCaller: GatewayLinkOwner {
  func linkOpened(_ hello: GatewayHello, isFirst: Bool, down: Double?) {
    guard let (method, params) = question, let link else { return }
    question = nil
    // The time of the command ends it, not that of one question.
    link.call(method, params, time: .infinity) { [unowned self] reply in
      switch reply {
      case .answer(let payload):
        result = .success(payload.isAbsent ? Array("null".utf8) : Array(payload.bytes))
      case .refused(let error):
        let problem = GatewayChat.problem(error)
        fail(method, problem.line, problem.status)
      case .late: fail(method, "no answer came in time", .temporary)
      case .lost: fail(method, "the connection was lost before an answer came", .temporary)
      }
    }
  }

  func linkHeard(_ event: GatewayEvent) {}
  func linkMissed(from: Int64, to: Int64) {}
  func linkFaulted(_ reason: String) { caller.diagnostics.say(reason) }
  func linkLost(_ reason: String, wait: Double) {
    fail(link?.place ?? "the gateway", reason, .temporary)
  }
  func linkWaits(_ words: String, wait: Double) {}

  func linkEnded(_ end: StreamEnd) {
    let problem = end.problem
    fail(link?.place ?? "the gateway", problem.line, problem.status)
  }
}

extension AgentAccess {
  /// The way that a caller goes.
  fileprivate init(_ caller: Caller) throws(SettingsError) {
    guard let profile = caller.backend.profile else {
      throw SettingsError(caller.backend.base.display, "no profile stands for this address")
    }
    self.profile = profile
    backend = caller.backend
    client = caller.client
    options = AccessOptions()
  }
}
