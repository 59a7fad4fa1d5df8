import Core

/// A server-sent event stream (WHATWG HTML 9.2), over any number of connections.
public final class EventWire {
  private let loop: StreamLoop
  private let request: Request
  private var parser: EventParser

  /// - Parameter request: the stream; Accept, Accept-Encoding, Cache-Control and Last-Event-ID
  ///   are added.
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
    if let head = response.head, head.status != 200 || !head.isEventStream {
      if head.status == 204 { throw .noContent }
      let what = head.status == 200 ? ": not an event stream: \(head.typeText)" : ""
      throw .failed(Failure(head.summary + what, .failure), at: response.place)
    }
    parser.lastEventID = loop.lastID
    parser.restart()
    loop.opened(response.place)
    return response
  }

  /// Reads until the connection is gone.
  ///
  /// - Parameters:
  ///   - waits: whether `receive` has to wait while it has an event; asked once for each.
  ///   - receive: given each event, comment and event past the limit.
  public func read(
    _ response: LiveResponse, waits: @escaping (StreamEventView) -> Bool = { _ in false },
    _ receive: @escaping (StreamItem) throws(LinkEnd) -> Void
  ) throws(LinkEnd) -> Never {
    // Where the bytes come nobody can wait, nor throw.
    var held: HeldEvent?
    var failure: LinkEnd?
    var isSettling = false
    func parse(_ bytes: UnsafeRawBufferPointer) -> Int {
      var rest = bytes
      do throws(LinkEnd) {
        while held == nil, failure == nil, let item = parser.receive(&rest) {
          switch item {
          case .retry(let milliseconds):
            loop.setFirstWait(min(Double(milliseconds) / 1000, RetryAfter.limit))
          case .event(let event) where waits(event): held = HeldEvent(event)
          default: try receive(item)
          }
        }
      } catch {
        failure = error
      }
      if held == nil, !loop.isOver { loop.lastID = parser.lastEventID }
      return bytes.count - rest.count
    }
    func settle() throws(LinkEnd) {
      if let event = held {
        (held, isSettling) = (nil, true)
        defer { isSettling = false }
        event.withView { event in
          do throws(LinkEnd) { try receive(.event(event)) } catch { failure = error }
        }
      }
      if let failure { throw failure }
    }
    response.readsInPlace = { isSettling ? 0 : parse($0) }
    defer { response.readsInPlace = nil }
    do throws(LinkEnd) {
      while true {
        var rest = try response.receive(idle: loop.policy.idleTimeout)
        try settle()
        while let bytes = rest, bytes.count > 0 {
          rest = UnsafeRawBufferPointer(rebasing: bytes[parse(bytes)...])
          try settle()
        }
      }
    } catch {
      if loop.policy.flushPartial, !loop.isOver, let item = parser.partial() { try receive(item) }
      throw error
    }
  }
}
