import Core
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Answers the requests that come on a port.
protocol RequestService: Sendable {
  /// The connections that requests come on.
  var connections: Connections { get }
  /// Open requests.
  var tickets: Tickets { get }
  /// Where a subscriber's backlog ends, bytes.
  var backlogLimit: Int { get }
  /// Says what is worth knowing.
  var diagnostics: Diagnostics { get }

  /// What becomes of a request's body.
  func bodyPlan(_ head: RequestHead) -> BodyPlan

  /// The stream that a request asks for, and may, before any work; nil when it is to
  /// be answered.
  func stream(_ head: RequestHead) -> ServedStream?

  /// The answer to a request; faults are answered too.
  func respond(to head: RequestHead, body: RequestBody) async -> ServedAnswer
}

/// What a request is answered with.
enum ServedAnswer: Sendable {
  /// All of it.
  case whole(WholeAnswer)
  /// Events, one after the other.
  case stream(ServedStream)
}

/// An answer that is events: until the client is gone, or all is said.
struct ServedStream: Sendable {
  /// Takes a client; false when the server is about to stop.
  let open: @Sendable (Subscriber) -> Bool
  /// Sends it what there is, beside what comes to it from elsewhere.
  let fill: @Sendable (Subscriber) async -> Void
  /// Forgets a client that is gone.
  let close: @Sendable (Subscriber) -> Void
}

extension ServedBackend: RequestService {
  func stream(_ head: RequestHead) -> ServedStream? {
    guard head.method == "GET", let feed = feed(head.path), refusal(of: head) == nil else {
      return nil
    }
    return ServedStream(
      open: { feed.hub.add($0) },
      fill: { await $0.catchUp(with: feed, lastEventID: head["last-event-id"]) },
      close: { feed.hub.remove($0) })
  }

  func respond(to head: RequestHead, body: RequestBody) async -> ServedAnswer {
    .whole(await answer(head, body: body))
  }
}

/// What a port does with requests for a WebSocket (RFC 6455, section 4.2).
struct SocketUpgrade: Sendable {
  /// Whether a request may; otherwise it is answered as any other.
  let accepts: @Sendable (RequestHead) -> Bool
  /// The longest frame that is read, bytes.
  let frameLimit: Int
  /// Adds what takes the frames.
  let setUp: @Sendable (any Channel) throws -> Void

  fileprivate func accepts(_ head: HTTPRequestHead) -> Bool {
    guard let head = try? RequestHead(head), head.method == "GET", !head.isOld else { return false }
    let options = (head["connection"] ?? "").lowercased().split(separator: ",")
    return options.contains { $0.trimmingBlanks() == "upgrade" } && accepts(head)
  }

  /// Does so on one connection.
  func upgrader(_ connection: Connection) -> NIOWebSocketServerUpgrader {
    NIOWebSocketServerUpgrader(
      maxFrameSize: frameLimit, automaticErrorHandling: false,
      shouldUpgrade: { channel, head in
        channel.eventLoop.makeSucceededFuture(accepts(head) ? HTTPHeaders() : nil)
      },
      upgradePipelineHandler: { channel, _ in
        channel.eventLoop.makeCompletedFuture {
          // From now on the WebSocket says what is expected of the client, and when.
          connection.expect(nil)
          try setUp(channel)
        }
      })
  }
}
