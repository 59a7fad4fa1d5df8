import Core

/// An answer that is read as it comes: `open` returns when its head is there, `receive` when
/// bytes are. It connects once.
public final class LiveResponse: Exchange {
  /// With so many bytes that nobody has read, TCP holds the server back.
  private static let most = 256 << 10

  private let waiter: Waiter
  private let closing: String
  private var found: ResponseHead?
  private var end: ExchangeEnd?
  private let region = UnsafeMutableRawBufferPointer.allocate(byteCount: most, alignment: 4096)
  private var count = 0
  /// Whether the bytes are with whoever called `receive`.
  private var isLent = false
  /// Reads what it can of the bytes where they come, before they are kept, and says how many that
  /// were. It must not wait.
  var readsInPlace: ((UnsafeRawBufferPointer) -> Int)?
  private var isPaused = false
  private var countBefore: Int64 = -1
  /// When something came last, seconds of `Clock.monotonic`; before that, when it was asked for.
  public private(set) var lastHeard = Clock.monotonic

  /// Asks, and waits for the head.
  ///
  /// - Parameters:
  ///   - request: what to ask; redirects are followed.
  ///   - idle: seconds after which no head means a lost connection; nil for never.
  /// - Throws: `LinkEnd`; `refused` for an error, with its body as far as that came.
  public static func open(
    _ waiter: Waiter, _ request: Request, idle: Double? = nil
  ) throws(LinkEnd) -> LiveResponse {
    let response = LiveResponse(waiter, request)
    while response.head == nil { try response.step(idle, until: .infinity) }
    return response
  }

  /// Asks, and does not wait: `head` is nil before it is there.
  ///
  /// - Parameters:
  ///   - closing: what it means that the body ends; one line.
  ///   - onSend: as of `Exchange`; false ends it as if the server had closed it.
  public init(
    _ waiter: Waiter, _ request: Request, closing: String = "the server closed the stream",
    onSend: (() -> Bool)? = nil
  ) {
    self.waiter = waiter
    self.closing = closing
    place = request.address.display
    super.init(waiter.client, request, onSend: onSend)
    start()
  }

  deinit {
    cancel()
    region.deallocate()
  }

  override func received(_ head: ResponseHead) -> Bool {
    found = head
    return true
  }

  override func ended(_ end: ExchangeEnd) { self.end = end }

  /// The address behind redirects, for messages.
  public private(set) var place: String

  /// The head of an answer that is no error.
  public var head: ResponseHead? {
    found.flatMap { (200...299).contains($0.status) ? $0 : nil }
  }

  /// Whether `receive` need not wait: bytes have come, or the end.
  var isReady: Bool { end != nil || isPaused || (head != nil && count > 0 && !isLent) }

  /// Waits for the next bytes of the body.
  ///
  /// - Parameters:
  ///   - idle: seconds of silence after which the connection counts as lost; nil for never.
  ///   - until: when to return without any, seconds of `Clock.monotonic`.
  /// - Returns: valid until the next call; nil when that time has come, or something else that is
  ///   waited for has got on.
  /// - Throws: `LinkEnd`, also at the end of the body.
  public func receive(
    idle: Double? = nil, until: Double = .infinity
  ) throws(LinkEnd) -> UnsafeRawBufferPointer? {
    if isLent { (count, isLent) = (0, false) }
    if isPaused {
      (isPaused, lastHeard) = (false, Clock.monotonic)
      resume()
    }
    if count == 0 || head == nil { try step(idle, until: until) }
    guard count > 0, head != nil else { return nil }
    isLent = true
    lastHeard = Clock.monotonic
    return UnsafeRawBufferPointer(rebasing: region[..<count])
  }

  /// Whether the body has come to its end.
  public var isComplete: Bool { end == .complete }

  /// Lets silence pass for life, while nobody listened.
  public func restart() { lastHeard = Clock.monotonic }

  private func step(_ idle: Double?, until: Double) throws(LinkEnd) {
    if let end {
      switch end {
      case .network(let reason): throw .lost(reason)
      case .unusable(let failure): throw .failed(failure, at: place)
      case .complete, .stopped: throw .lost(closing)
      }
    }
    // A head may come drop by drop, and never end.
    if found != nil, receivedCount != countBefore {
      countBefore = receivedCount
      lastHeard = Clock.monotonic
    }
    let limit = lastHeard + (idle ?? .infinity)
    if let idle, Clock.monotonic >= limit {
      throw .lost("nothing came for \(Latency.seconds(idle)) s")
    }
    try waiter.wait(until: min(limit, until))
    guard let found, countBefore < 0 else { return }
    countBefore = 0
    place = currentPlace
    if head == nil { try refuse(found) }
  }

  /// The body of an error tells more of it, and need not end.
  private func refuse(_ head: ResponseHead) throws(LinkEnd) {
    let until = Clock.monotonic + StreamPolicy.errorWait
    while end == nil, count < Fetch.mostOfError, Clock.monotonic < until {
      try waiter.wait(until: until)
    }
    throw .refused(head, Array(region[..<min(count, Fetch.mostOfError)]))
  }

  override func received(_ bytes: UnsafeRawBufferPointer) -> BodyFlow {
    var bytes = bytes
    if count == 0, !isLent, let readsInPlace {
      bytes = UnsafeRawBufferPointer(rebasing: bytes[readsInPlace(bytes)...])
      lastHeard = Clock.monotonic
    }
    guard !isLent, bytes.count <= region.count - count else {
      isPaused = true
      return .pause
    }
    UnsafeMutableRawBufferPointer(rebasing: region[count...]).copyMemory(from: bytes)
    count += bytes.count
    return .taken
  }
}
