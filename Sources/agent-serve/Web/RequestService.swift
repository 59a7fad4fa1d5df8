import Core

/// Answers the requests that come on a port.
protocol RequestService: Sendable {
  /// The connections that requests come on.
  var connections: Connections { get }
  /// Open requests.
  var tickets: Tickets { get }
  /// Where a subscriber's backlog ends, bytes.
  var backlogLimit: Int { get }
  /// How long clients may take.
  var patience: Patience { get }
  /// Where answers are made that take work.
  var workers: any TaskExecutor { get }
  /// Says what is worth knowing.
  var diagnostics: Diagnostics { get }

  /// The other protocol that a request asks for, and gets; nil when it is to be answered.
  func upgrade(_ head: RequestHead) throws(Refusal) -> ProtocolSwitch?

  /// The answer that is certain before a request's body has come; nil when there is none.
  func refusal(of head: RequestHead) -> WholeAnswer?

  /// The answer to a request without a body, where no work is needed for it; nil for others.
  func quickAnswer(_ head: RequestHead) -> WholeAnswer?

  /// What becomes of a request's body.
  func bodyPlan(_ head: RequestHead) -> BodyPlan

  /// The stream that a request asks for, and may, before any work; nil when it is to
  /// be answered.
  func stream(_ head: RequestHead) -> (any EventSource)?

  /// The answer to a request; faults are answered too.
  func respond(to head: RequestHead, body: RequestBody) async -> ServedAnswer
}

extension RequestService {
  var patience: Patience { Patience() }
  var workers: any TaskExecutor { globalConcurrentExecutor }

  /// None.
  func upgrade(_ head: RequestHead) throws(Refusal) -> ProtocolSwitch? { nil }

  func quickAnswer(_ head: RequestHead) -> WholeAnswer? { refusal(of: head) }
}

/// How long a client may take for what it has to do.
struct Patience: Sendable {
  /// To begin its first request, and to send the rest of a head.
  var head = Duration.seconds(10)
  /// To begin another request: longer than a proxy is patient, who would otherwise send one
  /// while we close.
  var idle = Duration.seconds(75)
  /// Within a body, and for all of it.
  var bodyPause = Duration.seconds(10)
  var body = Duration.seconds(60)
  /// For each piece of what it is sent.
  var piece = Duration.seconds(60)
}

/// What a request is answered with.
enum ServedAnswer: Sendable {
  /// All of it.
  case whole(WholeAnswer)
  /// Events, one after the other.
  case stream(any EventSource)
}

/// A connection that goes on in another protocol.
struct ProtocolSwitch: Sendable {
  /// What is said before: 101.
  let answer: [UInt8]
  /// Goes on until the connection is to be closed.
  let run: @Poller @Sendable (Socket) async -> Void
}

extension ServedBackend: RequestService {
  func quickAnswer(_ head: RequestHead) -> WholeAnswer? {
    if let refusal = refusal(of: head) { return refusal }
    let isHealth = head.path == "/api/health" && (head.method == "GET" || head.method == "HEAD")
    return isHealth ? .healthy : nil
  }

  func stream(_ head: RequestHead) -> (any EventSource)? {
    guard head.method == "GET", let feed = feed(head.path), accessRefusal(of: head) == nil else {
      return nil
    }
    return feed
  }

  func respond(to head: RequestHead, body: RequestBody) async -> ServedAnswer {
    .whole(await answer(head, body: body))
  }
}
