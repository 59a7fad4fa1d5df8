import Core
import Foundation

extension Session {
  /// Sends a stream until the client is gone or the server ends.
  func stream(_ feed: ServedFeed, _ head: RequestHead, _ connection: Connection) async throws {
    let resumeAfter = try await resumePoint(head["last-event-id"])
    connection.prepareForEvents()
    let subscriber = Subscriber(connection: connection, limit: backend.backlogLimit)
    guard feed.hub.add(subscriber) else { return }
    defer { feed.hub.remove(subscriber) }
    // A client of HTTP/1.0 knows no chunks: the end of the connection ends it.
    let coding = head.isOld ? "" : "Transfer-Encoding: chunked\r\n"
    try await socket.write(
      Data(
        """
        HTTP/1.1 200 OK\r
        Date: \(Timestamp.now().httpDate)\r
        Content-Type: text/event-stream\r
        Cache-Control: no-cache\r
        Connection: keep-alive\r
        X-Accel-Buffering: no\r
        \(coding)\r

        """.utf8))
    let stream = StreamBody(feed, subscriber: subscriber, resumeAfter: resumeAfter)
    while let block = try await stream.next() {
      if head.isOld {
        try await socket.write(Data(block))
      } else {
        var chunk = Data("\(String(block.count, radix: 16))\r\n".utf8)
        chunk.append(contentsOf: block)
        chunk.append(contentsOf: [13, 10])
        try await socket.write(chunk)
      }
    }
    if !head.isOld { try await socket.write(Data("0\r\n\r\n".utf8)) }
  }

  /// The action after which a client wants to go on; nil when it names none, or
  /// one that this store never gave out: then it needs a snapshot.
  private func resumePoint(_ text: String?) async throws -> Int64? {
    guard let text, !text.isEmpty, text.utf8.allSatisfy({ $0 &- 0x30 < 10 }),
      let id = Int64(text), id <= (try await backend.store.newestID())
    else { return nil }
    return id
  }
}
