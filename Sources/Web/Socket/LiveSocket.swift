import CLibc
import Core
public import Frames

/// A WebSocket as its client has it (RFC 6455): `connect` returns when it is open, `receive` when
/// a message is there. It connects once; when it goes, the other side is told.
public final class LiveSocket {
  /// What `receive` brings.
  public enum Arrival {
    /// A whole message; its bytes are valid until the next call.
    case message(SocketMessage)
    /// A message over the limit was skipped, of which so many bytes are known of.
    case oversize(bytes: Int)
  }

  /// How much is read before others get their turn, bytes.
  private static let mostInTurn = 1 << 20
  /// With more than this unsent, pings are answered later, bytes.
  private static let crowded = 1 << 16

  private let waiter: Waiter
  private let options: SocketOptions
  /// The address behind all redirects, for messages.
  public private(set) var place: String
  /// The subprotocol that the server took.
  public private(set) var subprotocol: String?
  private var route: RequestRoute
  private var connection: RawConnection?
  private var writer = FrameWriter()
  private let reader: FrameReader
  private let region = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 4096)
  private var hasFrames = false
  /// How much was read since the last wait, bytes.
  private var inTurn = 0
  /// The payload of the newest ping that is not answered, because the network takes
  /// nothing. Older ones then need no answer (RFC 6455, section 5.5.3), so that a flood of
  /// them fills no memory.
  private var duePong: [UInt8]?
  private var isOpen = false
  /// What a server is told that was silent for too long: it may be there still, and only slow.
  public var leaving: (code: UInt16, reason: String) = (1001, "")
  private var lastHeard = 0.0
  /// When the last ping went out; before the first, when the connection was opened.
  private var pingedAt = 0.0
  private var hasPinged = false
  /// Pings in a row behind which nothing came.
  private var unanswered = 0

  /// Connects, and waits until the socket is open.
  ///
  /// - Parameters:
  ///   - request: the address, and the headers with the token; `http` means `ws`. Redirects are
  ///     followed; across origins private headers stay behind.
  ///   - idle: seconds without a byte after which the connection counts as lost; nil for never.
  /// - Throws: `LinkEnd`; `refused` for another answer than 101.
  public static func connect(
    _ waiter: Waiter, _ request: Request, options: SocketOptions = SocketOptions(),
    idle: Double? = nil
  ) throws(LinkEnd) -> LiveSocket {
    var request = request
    request.token?.authorize(&request)
    let socket = LiveSocket(waiter, request, options)
    try socket.open(request, idle)
    return socket
  }

  private init(_ waiter: Waiter, _ request: Request, _ options: SocketOptions) {
    self.waiter = waiter
    self.options = options
    route = RequestRoute(request)
    place = request.address.socketDisplay
    reader = FrameReader(from: .server, limit: options.maxMessageBytes)
  }

  deinit {
    if isOpen, let connection {
      let (code, reason) = waiter.isOver ? (1000, "") : leaving
      writer.add(.close, CloseFrame.payload(code, reason))
      _ = writer.flush(connection.write)
    }
    region.deallocate()
  }

  // MARK: - The handshake

  private func open(_ first: Request, _ idle: Double?) throws(LinkEnd) {
    var (request, hasRenewed) = (first, false)
    while true {
      let upgrade = Upgrade(
        request, subprotocols: options.subprotocols, agent: waiter.client.agent)
      let (head, body) = try answer(to: upgrade, request, idle)
      if head.status == 101 {
        if let fault = upgrade.fault(of: head) { throw .failed(Failure(fault, .failure)) }
        subprotocol = upgrade.subprotocol(of: head)
        place = route.place(of: request) { $0.socketDisplay }
        isOpen = true
        pingedAt = Clock.monotonic
        return
      }
      if !hasRenewed, let other = request.renewed(after: head) {
        hasRenewed = true
        request = other
        route.renew(other)
        continue
      }
      guard head.isRedirect, let location = head.value("Location"), !location.isEmpty else {
        throw .refused(head, body)
      }
      request = try Failure.rethrowing(
        try route.next(request, head, to: WebAddress.webText(location)),
        as: { LinkEnd.failed($0) })
      if options.staysAtOrigin, request.address.origin != route.origin {
        let reason = "\(head.summary): the redirect leads to another server"
        throw .failed(Failure(reason, .failure))
      }
    }
  }

  /// Connects, asks, and reads the answer. What follows one of 101 is left to the reader.
  private func answer(
    to upgrade: Upgrade, _ request: Request, _ idle: Double?
  ) throws(LinkEnd) -> (ResponseHead, [UInt8]) {
    guard let made = RawConnection(request, waiter.client) else { Diagnostics.outOfMemory() }
    connection = made
    lastHeard = Clock.monotonic
    do throws(LinkEnd) {
      guard try made.connect(waiter, until: lastHeard + (idle ?? .infinity)) else {
        throw silent(idle)
      }
    } catch {
      if case .lost(let reason, _) = error { throw lost(reason) }
      throw error
    }
    writer = FrameWriter()
    writer.add(raw: upgrade.bytes)
    var reader = AnswerReader(mask: route.mask)
    lastHeard = Clock.monotonic
    var until = lastHeard + options.answerWait
    while true {
      var progress = AnswerReader.Progress.more
      switch made.read(into: region) {
      case .bytes(let count):
        lastHeard = Clock.monotonic
        progress = reader.receive(UnsafeRawBufferPointer(rebasing: region[..<count]))
        if case .switched(_, let rest) = progress, rest < count {
          self.reader.supply(UnsafeMutableRawBufferPointer(rebasing: region[rest..<count]))
          hasFrames = true
        }
        if reader.hasHead { until = min(until, lastHeard + StreamPolicy.errorWait) }
      case .nothing where Clock.monotonic < min(until, lastHeard + (idle ?? .infinity)):
        try wait(until: min(until, lastHeard + (idle ?? .infinity)))
      case .nothing where Clock.monotonic < until: throw silent(idle)
      case .nothing where !reader.hasHead:
        throw lost("no answer within \(Latency.seconds(options.answerWait)) s")
      case .nothing, .end: progress = reader.finish()
      case .failed(let reason): throw lost(reason)
      }
      switch progress {
      case .more: continue
      case .bad(let reason): throw lost(reason)
      case .answered(let head, let body): return (head, body)
      case .switched(let head, _): return (head, [])
      }
    }
  }

  // MARK: - Messages

  /// Bytes that were not yet given to the network.
  public var unsent: Int { writer.unsent }

  /// Sends a text, UTF-8, with the next `receive`.
  public func send(text: [UInt8]) { writer.add(.text, text) }

  /// Waits for a message.
  ///
  /// - Parameters:
  ///   - idle: seconds without a byte after which the connection counts as lost; nil for never.
  ///   - pingEvery: how often a ping asks for a sign of life, seconds; nil for never.
  ///   - mostUnanswered: when nothing came behind so many pings in a row, and the next one is due,
  ///     the connection counts as lost.
  ///   - until: when to return without one, seconds of `Clock.monotonic`.
  /// - Returns: nil when that time has come, or something else that is waited for has got on.
  public func receive(
    idle: Double? = nil, pingEvery: Double? = nil, mostUnanswered: Int = 1,
    until: Double = .infinity
  ) throws(LinkEnd) -> Arrival? {
    guard let connection else { throw lost("the connection is gone") }
    var hasWaited = false
    while true {
      while hasFrames {
        let item: FrameReader.Item?
        do throws(FrameFault) { item = try reader.next() } catch { throw try violated(error) }
        switch item {
        case nil: hasFrames = false
        case .message(let message): return .message(message)
        case .oversize(let bytes): return .oversize(bytes: bytes)
        case .ping(let payload):
          duePong = payload
          answerPing()
        case .close(let frame):
          let end = LinkEnd.closed(frame.code, route.hide(frame.reason))
          throw try close(frame.code.map { CloseFrame.payload($0, "") } ?? [], end)
        }
      }
      if inTurn < Self.mostInTurn {
        switch connection.read(into: region) {
        case .bytes(let count):
          inTurn += count
          lastHeard = Clock.monotonic
          reader.supply(UnsafeMutableRawBufferPointer(rebasing: region[..<count]))
          hasFrames = true
          continue
        case .nothing: break
        case .end:
          answerPing()
          try flush()
          throw lost("the connection ended without a close frame")
        case .failed(let reason): throw lost(reason)
        }
      }
      let due = try inTurn < Self.mostInTurn ? watch(idle, pingEvery, mostUnanswered) : 0
      if hasWaited { return nil }
      try wait(until: min(due, until))
      hasWaited = true
    }
  }

  /// Lets silence pass for life, while nobody listened.
  public func restart() {
    (lastHeard, pingedAt, hasPinged) = (Clock.monotonic, Clock.monotonic, false)
  }

  /// Notices silence, and pings; when to look again, seconds of `Clock.monotonic`.
  private func watch(
    _ idle: Double?, _ pingEvery: Double?, _ mostUnanswered: Int
  ) throws(LinkEnd) -> Double {
    let now = Clock.monotonic
    var next = Double.infinity
    if let idle {
      if now - lastHeard >= idle {
        throw silent(idle)
      }
      next = lastHeard + idle
    }
    guard let pingEvery else { return next }
    if now - pingedAt >= pingEvery {
      unanswered = hasPinged && lastHeard < pingedAt ? unanswered + 1 : 0
      if unanswered >= mostUnanswered {
        let waited = Latency.seconds(pingEvery * Double(mostUnanswered))
        throw .lost("no answer to a ping within \(waited) s")
      }
      writer.add(.ping, [])
      (pingedAt, hasPinged) = (now, true)
    }
    return min(next, pingedAt + pingEvery)
  }

  private func answerPing() {
    guard isOpen, let payload = duePong, writer.unsent < Self.crowded else { return }
    duePong = nil
    writer.add(.pong, payload)
  }

  private func flush() throws(LinkEnd) {
    guard let connection, writer.flush(connection.write) else {
      throw lost("the connection is broken")
    }
  }

  private func wait(until: Double) throws(LinkEnd) {
    inTurn = 0
    try waiter.wait(until: until) { () throws(LinkEnd) in
      answerPing()
      try flush()
      let events = POLLIN | (writer.unsent > 0 ? POLLOUT : 0)
      return [pollfd(fd: connection?.socket ?? -1, events: Int16(events), revents: 0)]
    }
  }

  // MARK: - The end

  /// Nobody is there to whom a code could say anything (RFC 6455, section 7.1.5).
  private func lost(_ reason: String) -> LinkEnd {
    isOpen = false
    return .lost(route.hide(reason))
  }

  private func silent(_ idle: Double?) -> LinkEnd {
    .lost("nothing came for \(Latency.seconds(idle ?? 0)) s")
  }

  private func violated(_ fault: FrameFault) throws(LinkEnd) -> LinkEnd {
    let end = LinkEnd.violated("\(fault.reason); closed with \(fault.code)")
    return try close(CloseFrame.payload(fault.code, fault.reason), end)
  }

  /// Says that this is the end, gives the other side time for its part, and returns the end.
  private func close(_ payload: [UInt8], _ end: LinkEnd) throws(LinkEnd) -> LinkEnd {
    answerPing()
    writer.add(.close, payload)
    isOpen = false
    let until = Clock.monotonic + options.closeWait
    while let connection, writer.flush(connection.write), Clock.monotonic < until {
      switch connection.read(into: region) {
      case .bytes: try waiter.wait(until: 0)
      case .nothing: try wait(until: until)
      case .end, .failed: return end
      }
    }
    return end
  }
}

/// What is asked of a WebSocket.
public struct SocketOptions: Sendable {
  /// The subprotocols that are offered, the dearest first; the server takes one or none.
  public var subprotocols: [String] = []
  /// The largest message that is handed over, bytes; nil for `largest`.
  public var maxMessageBytes: Int?
  /// How long the answer to the request may take once the connection is made, seconds.
  public var answerWait = 30.0
  /// How long the other side has for its part of the end, seconds.
  public var closeWait = 2.0

  /// Whether a redirect to another origin is refused: for a protocol that shows its secrets
  /// in messages, and not in headers, which stay behind.
  public var staysAtOrigin = false

  /// No subprotocol, messages of any size up to `largest`.
  public init() {}

  /// The largest message that is taken, bytes.
  public static let largest = FrameReader.largest
}
