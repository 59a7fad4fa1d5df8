import Core
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// Accepts connections and sets up the handlers of each.
struct Listener: Sendable {
  /// The port that was got.
  let port: UInt16
  private let channel: any Channel

  /// Binds and listens.
  ///
  /// - Parameters:
  ///   - address: where.
  ///   - service: answers the requests.
  ///   - sockets: what is done with those that ask for a WebSocket; nil to refuse them.
  /// - Throws: `IOError` when the address cannot be had.
  init(
    _ address: ListenAddress, _ service: any RequestService, sockets: SocketUpgrade? = nil
  ) async throws {
    // A loop takes three descriptors; who has few of them has few clients, too.
    let loops = service.connections.descriptors < 256 ? 1 : min(4, System.coreCount)
    channel = try await ServerBootstrap(
      group: MultiThreadedEventLoopGroup(numberOfThreads: loops)
    )
    .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
    .serverChannelOption(.backlog, value: 1024)
    // One at a time, so that the gate sees each.
    .serverChannelOption(.maxMessagesPerRead, value: 1)
    .serverChannelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(AcceptGate(service))
      }
    }
    .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
    .childChannelOption(.allowRemoteHalfClosure, value: true)
    // Writable means that the kernel has taken all of what was written before.
    .childChannelOption(.writeBufferWaterMark, value: .init(low: 1, high: 1))
    .childChannelInitializer { channel in
      channel.eventLoop.makeCompletedFuture { try Self.setUp(channel, service, sockets) }
    }
    .bind(to: try address.socketAddress).get()
    port = UInt16(channel.localAddress?.port ?? Int(address.port))
  }

  /// Takes no more connections.
  func close() { channel.close(promise: nil) }

  private static func setUp(
    _ channel: any Channel, _ service: any RequestService, _ sockets: SocketUpgrade?
  ) throws {
    let connection = Connection(channel)
    service.connections.add(connection)
    channel.closeFuture.whenComplete { _ in service.connections.remove(connection) }
    let input = InputWatch(connection)
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = RequestHead.sizeLimit
    limits.maxHeaderListSize = RequestHead.sizeLimit
    var headers = HTTPResponseEncoder.Configuration()
    headers.automaticallySetFramingHeaders = false
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(input)
    let decoder = ByteToMessageHandler(
      HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: limits))
    let encoder = HTTPResponseEncoder(configuration: headers)
    let order = HTTPServerPipelineHandler()
    let session = Session(service, connection, input)
    try pipeline.addHandler(decoder)
    try pipeline.addHandler(encoder)
    try pipeline.addHandler(order)
    if let sockets {
      try pipeline.addHandler(
        HTTPServerUpgradeHandler(
          upgraders: [sockets.upgrader(connection)], httpEncoder: encoder,
          extraHTTPHandlers: [decoder, order, session], upgradeCompletionHandler: { _ in }))
    }
    try pipeline.addHandler(session)
  }
}

/// Keeps the number of connections below that of descriptors: whoever comes then
/// waits until a client that is silent has given way.
private final class AcceptGate: ChannelDuplexHandler {
  typealias InboundIn = any Channel
  typealias OutboundIn = Never

  private let service: any RequestService
  private var isWaiting = false
  private var quietUntil = NIODeadline.now()

  init(_ service: any RequestService) { self.service = service }

  func read(context: ChannelHandlerContext) {
    if isWaiting { return }
    guard service.connections.areTooMany else { return context.read() }
    complain("too many open files; the clients that are silent longest give way")
    service.connections.dropOldest()
    wait(context)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // No descriptor is left, or the client gave up: others may have more luck.
    complain(ErrorText.of(error))
    service.connections.dropOldest(atLeast: 1)
    if !isWaiting { wait(context) }
  }

  private func wait(_ context: ChannelHandlerContext) {
    isWaiting = true
    context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(20)) {
      self.isWaiting = false
      self.read(context: context)
    }
  }

  private func complain(_ reason: String) {
    guard NIODeadline.now() >= quietUntil else { return }
    quietUntil = .now() + .seconds(60)
    service.diagnostics.error("accept", reason)
  }
}

/// Sees the bytes of a client before they are read as requests.
final class InputWatch: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let connection: Connection
  private var end: [UInt8] = []
  /// Whether what comes is thrown away: nothing more is answered.
  var isDeaf = false

  init(_ connection: Connection) { self.connection = connection }

  /// Whether the last bytes are those that end a head, or a body in chunks.
  var endsRequest: Bool { end.elementsEqual("\r\n\r\n".utf8) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isDeaf { return }
    connection.noteInput()
    end = Array((end + Self.unwrapInboundIn(data).readableBytesView.suffix(4)).suffix(4))
    context.fireChannelRead(data)
  }
}
