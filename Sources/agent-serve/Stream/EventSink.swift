import Core

protocol EventSource: Sendable {
  @Poller func send(to client: EventSink) async throws
}

@Poller
final class EventSink: BlockTaker {
  /// Where the backlog of a client ends, bytes.
  let backlogLimit: Int
  let lastEventID: String?
  let lastEventTime: String?
  private let socket: Socket
  private let connections: Connections
  /// A client of HTTP/1.0 knows no chunks: the end of the connection ends the stream.
  private let isChunked: Bool
  private let closes: Bool
  private let pause: Duration
  private var isCut = false
  /// What the kernel did not take of a block.
  private var rest: [UInt8] = []
  private var unsent = 0..<0

  init(
    _ socket: Socket, _ head: RequestHead, _ connections: Connections, backlogLimit: Int,
    pause: Duration
  ) {
    (self.socket, self.connections, self.backlogLimit) = (socket, connections, backlogLimit)
    self.pause = pause
    lastEventID = head["last-event-id"]
    lastEventTime = head["x-last-event-time"]
    isChunked = !head.isOld
    closes = !head.keepsAlive
  }

  func whenLeft(_ body: @escaping @Poller () -> Void) { socket.whenLeft = body }

  func abort(_ reason: String) {
    if !isCut { connections.noteCut(reason) }
    isCut = true
    socket.abort(forgets: true)
  }

  func begin() async throws(Socket.Failure) {
    socket.prepareForStream()
    var head = WholeAnswer.statusLine(200)
    head += "Date: \(Timestamp.now().sharedDate)\r\nContent-Type: text/event-stream\r\n"
    head += "Cache-Control: no-cache\r\nConnection: \(closes ? "close" : "keep-alive")\r\n"
    head += "X-Accel-Buffering: no\r\n"
    if isChunked { head += "Transfer-Encoding: chunked\r\n" }
    try await socket.write(Array((head + "\r\n").utf8), pause: pause)
  }

  var isBehind: Bool { !unsent.isEmpty }

  func receive(_ block: Block) -> Bool {
    let range = isChunked ? block.chunk.indices : block.content
    unsent = socket.writeNow(block.chunk, range)
    if unsent.isEmpty { return true }
    rest = block.chunk
    return false
  }

  /// A client that took nothing for as long as `pause` is as good as gone.
  func send(_ blocks: [Block]) async throws(Socket.Failure) {
    do throws(Socket.Failure) {
      if isBehind {
        try await socket.write(rest, unsent, pause: pause)
        (rest, unsent) = ([], 0..<0)
      }
      if blocks.count == 1 {
        let block = blocks[0]
        try await socket.write(
          block.chunk, isChunked ? nil : block.content, pause: pause)
      } else if !blocks.isEmpty {
        let bytes = blocks.flatMap { isChunked ? $0.chunk[...] : $0.chunk[$0.content] }
        try await socket.write(bytes, pause: pause)
      }
    } catch {
      if error == .late { abort("it took nothing of a stream for too long") }
      throw error
    }
  }

  /// Ends the stream. Returns false when the connection was broken off.
  func end() async throws(Socket.Failure) -> Bool {
    socket.whenLeft = nil
    if isCut { return false }
    if isChunked { try await socket.write(Array("0\r\n\r\n".utf8), pause: pause) }
    return true
  }
}
