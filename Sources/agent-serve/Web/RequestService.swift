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

  /// Whether a request's body is of interest.
  func wantsBody(_ head: RequestHead) -> Bool

  /// The stream that a request asks for, and may; nil when it is to be answered.
  func stream(_ head: RequestHead) -> ServedFeed?

  /// The answer to a request; faults are answered too.
  func answer(_ head: RequestHead, body: RequestBody) async -> WholeAnswer
}

extension ServedBackend: RequestService {
  func stream(_ head: RequestHead) -> ServedFeed? {
    guard head.method == "GET", let feed = feed(head.path), refusal(of: head) == nil else {
      return nil
    }
    return feed
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
