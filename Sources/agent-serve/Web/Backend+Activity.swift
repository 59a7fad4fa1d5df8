import FlyingFox

extension Backend {
  /// Opens an activity stream; nil when the server is about to stop.
  func activity(_ request: HTTPRequest) async throws -> HTTPResponse? {
    let resumeAfter = try await resumePoint(request.headers[Self.lastEventID])
    let connection = Connection(of: request)
    connection.prepareForEvents()
    let subscriber = Subscriber(connection: connection, limit: backlogLimit)
    guard hub.add(subscriber) else { return nil }
    let stream = ActivityStream(
      store: store, stats: stats, hub: hub, subscriber: subscriber, resumeAfter: resumeAfter)
    return HTTPResponse(
      statusCode: .ok,
      headers: [
        .contentType: "text/event-stream", .cacheControl: "no-cache", .connection: "keep-alive",
        HTTPHeader("X-Accel-Buffering"): "no",
      ],
      body: HTTPBodySequence(from: stream))
  }

  private static let lastEventID = HTTPHeader("Last-Event-ID")

  /// The action after which a client wants to go on; nil when it names none, or
  /// one that this store never gave out: then it needs a snapshot.
  private func resumePoint(_ text: String?) async throws -> Int64? {
    guard let text, !text.isEmpty, text.utf8.allSatisfy({ $0 &- 0x30 < 10 }),
      let id = Int64(text), id <= (try await store.newestID())
    else { return nil }
    return id
  }
}
