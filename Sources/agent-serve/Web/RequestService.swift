import Core

protocol RequestService: Sendable {
  var connections: Connections { get }
  var tickets: Tickets { get }
  /// Where a subscriber's backlog ends, bytes.
  var backlogLimit: Int { get }
  var patience: Patience { get }
  var workers: any TaskExecutor { get }
  var diagnostics: Diagnostics { get }

  /// The other protocol that a request asks for, and gets; nil when it is to be answered.
  func upgrade(_ head: RequestHead) throws(Refusal) -> ProtocolSwitch?

  /// The answer that is certain before a request's body has come; nil when there is none.
  func refusal(of head: RequestHead) -> WholeAnswer?

  /// The answer to a request without a body, where no work is needed for it; nil for others.
  func quickAnswer(_ head: RequestHead) -> WholeAnswer?

  func bodyPlan(_ head: RequestHead) -> BodyPlan

  /// The stream that a request asks for, and may, before any work; nil when it is to
  /// be answered.
  func stream(_ head: RequestHead) -> (any EventSource)?

  func respond(to head: RequestHead, body: RequestBody) async -> ServedAnswer
}

extension RequestService {
  var patience: Patience { Patience() }
  var workers: any TaskExecutor { globalConcurrentExecutor }

  func upgrade(_ head: RequestHead) throws(Refusal) -> ProtocolSwitch? { nil }

  func quickAnswer(_ head: RequestHead) -> WholeAnswer? { refusal(of: head) }
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
  func quickAnswer(_ head: RequestHead) -> WholeAnswer? {
    if let refusal = refusal(of: head) { return refusal }
    let isHealth = head.path == "/api/health" && (head.method == "GET" || head.method == "HEAD")
    return isHealth ? .healthy : nil
  }

  func stream(_ head: RequestHead) -> (any EventSource)? {
    guard head.method == "GET", accessRefusal(of: head) == nil else { return nil }
    switch head.path {
    case "/api/activity/events": return activity
    case "/api/voice/events": return voice
    default: return nil
    }
  }

  func respond(to head: RequestHead, body: RequestBody) async -> ServedAnswer {
    .whole(await answer(head, body: body))
  }
}
