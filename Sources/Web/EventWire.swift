import Core

/// A server-sent event stream (WHATWG HTML 9.2), over any number of connections.
public final class EventWire {
  private let loop: StreamLoop
  private let request: Request
  private var parser: EventParser

  /// - Parameters:
  ///   - loop: follows it.
  ///   - request: the stream; Accept, Accept-Encoding, Cache-Control and Last-Event-ID are added.
  public init(_ loop: StreamLoop, _ request: Request) {
    (self.loop, self.request) = (loop, request)
    parser = EventParser(
      keepsComments: loop.policy.keepsComments, maxEventBytes: loop.policy.maxEventBytes)
  }

  /// Connects.
  ///
  /// - Parameter resuming: what goes with a last event id.
  public func open(resuming: [Header] = []) throws(LinkEnd) -> LiveResponse {
    var request = request
    request.headers += [
      Header("Accept", "text/event-stream"), Header("Cache-Control", "no-cache"),
      // An event is of use when it comes, and not when enough have come to compress them.
      Header("Accept-Encoding", "identity"),
    ]
    if !loop.lastID.isEmpty {
      let id = String(decoding: loop.lastID, as: UTF8.self)
      request.headers += [Header("Last-Event-ID", id)] + resuming
    }
    let response = try LiveResponse.open(loop, request, idle: loop.policy.idleTimeout)
    switch response.head.flatMap({ StreamVerdict.judge($0) }) {
    case .noContent: throw .noContent
    case .failed(let problem): throw .failed(problem, at: response.place)
    case .open, .retry, nil: break
    }
    parser.lastEventID = loop.lastID
    parser.restart()
    loop.opened(response.place)
    return response
  }

  /// Reads until the connection is gone.
  ///
  /// - Parameter receive: given each event, comment and event past the limit.
  public func read(
    _ response: LiveResponse, _ receive: (StreamItem) throws(LinkEnd) -> Void
  ) throws(LinkEnd) -> Never {
    do throws(LinkEnd) {
      while true {
        guard var rest = try response.receive(idle: loop.policy.idleTimeout) else { continue }
        while let item = parser.receive(&rest) {
          if case .retry(let milliseconds) = item {
            loop.setFirstWait(min(Double(milliseconds) / 1000, RetryAfter.limit))
          } else {
            try receive(item)
          }
        }
        if !loop.isOver { loop.lastID = parser.lastEventID }
      }
    } catch {
      if loop.policy.flushPartial, !loop.isOver, let item = parser.partial() { try receive(item) }
      throw error
    }
  }
}
