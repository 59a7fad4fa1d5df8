import Core

/// What all services of a server have in common.
struct Serving: Sendable {
  let connections: Connections
  /// Of the requests that are being answered.
  let requests: Budget
  /// What requests may call this server; nil for whatever they like.
  var names: [Authority]?
  /// What requests must show; nil for a server that is open to its machine.
  var token: AccessToken?
  /// Where a subscriber's backlog ends, bytes.
  let backlogLimit: Int
  let diagnostics: Diagnostics
  var patience = Patience()
  var workers: any TaskExecutor = globalConcurrentExecutor
}

protocol RequestService: Sendable {
  var serving: Serving { get }

  /// The other protocol that a request asks for, and gets; nil when it is to be answered.
  func upgrade(_ head: RequestHead) throws(Refusal) -> ProtocolSwitch?

  /// The answer that is certain before a request's body has come; nil when there is none.
  func refusal(of head: RequestHead) -> WholeAnswer?

  /// The answer to a request without a body, where no work is needed for it; nil for others.
  func quickAnswer(_ head: RequestHead) -> ServedAnswer?

  func bodyPlan(_ head: RequestHead) -> BodyPlan

  func respond(to head: RequestHead, body: RequestBody) async -> ServedAnswer
}

extension RequestService {
  func upgrade(_ head: RequestHead) throws(Refusal) -> ProtocolSwitch? { nil }

  func quickAnswer(_ head: RequestHead) -> ServedAnswer? { refusal(of: head).map { .whole($0) } }
}

struct Patience: Sendable {
  /// To begin its first request, and to send the rest of a head.
  var head = Duration.seconds(10)
  /// To begin another request: longer than a proxy is patient, who would otherwise send one
  /// while we close.
  var idle = Duration.seconds(75)
  /// Within a body, and for all of it.
  var bodyPause = Duration.seconds(10)
  var body = Duration.seconds(60)
  var piece = Duration.seconds(60)
}

enum ServedAnswer: Sendable {
  case whole(WholeAnswer)
  case stream(any EventSource)
}

struct ProtocolSwitch: Sendable {
  let answer: [UInt8]
  let run: @Poller @Sendable (Socket) async -> Void
}

extension ServedBackend: RequestService {
  func quickAnswer(_ head: RequestHead) -> ServedAnswer? {
    if let refusal = refusal(of: head) { return .whole(refusal) }
    if let stream = stream(head) { return .stream(stream) }
    let isHealth = head.path == "/api/health" && (head.method == "GET" || head.method == "HEAD")
    return isHealth ? .whole(.healthy) : nil
  }

  private func stream(_ head: RequestHead) -> (any EventSource)? {
    guard head.method == "GET" else { return nil }
    switch head.path {
    case "/api/activity/events": return activity
    case "/api/voice/events": return voice
    default: return nil
    }
  }

  func respond(to head: RequestHead, body: RequestBody) async -> ServedAnswer {
    if case .whole = body, accessRefusal(of: head) == nil, let stream = stream(head) {
      return .stream(stream)
    }
    return .whole(await answer(head, body: body))
  }
}
