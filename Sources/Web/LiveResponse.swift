import Core

/// An answer that is read as it comes: `open` returns when its head is there, `receive` when
/// bytes are. It connects once.
public final class LiveResponse {
  /// With so many bytes that nobody has read, TCP holds the server back.
  private static let most = 256 << 10

  private let waiter: Waiter
  private var exchange: Exchange?
  /// The head of the answer.
  public private(set) var head: ResponseHead!
  private var end: ExchangeEnd?
  private let region = UnsafeMutableRawBufferPointer.allocate(byteCount: most, alignment: 4096)
  private var count = 0
  /// Whether the bytes are with whoever called `receive`.
  private var isLent = false
  private var isPaused = false
  private var received: Int64 = -1
  /// When something came last, seconds of `Clock.monotonic`; before that, when it was asked for.
  public private(set) var lastHeard = Clock.monotonic

  /// Asks, and waits for the head.
  ///
  /// - Parameters:
  ///   - waiter: waits.
  ///   - request: what to ask; redirects are followed.
  ///   - idle: seconds after which no head means a lost connection; nil for never.
  ///   - onSend: as of `Exchange`.
  /// - Throws: `LinkEnd`; `refused` for an error, with its body as far as that came.
  public static func open(
    _ waiter: Waiter, _ request: Request, idle: Double? = nil, onSend: (() -> Bool)? = nil
  ) throws(LinkEnd) -> LiveResponse {
    let response = LiveResponse(waiter, request, onSend)
    try response.begin(idle)
    return response
  }

  private init(_ waiter: Waiter, _ request: Request, _ onSend: (() -> Bool)?) {
    self.waiter = waiter
    place = request.address.display
    exchange = Exchange(
      waiter.client, request, onSend: onSend,
      onHead: { [unowned self] in
        head = $0
        return true
      }, onBody: { [unowned self] in append($0) }, onEnd: { [unowned self] in end = $0 })
  }

  deinit {
    exchange?.cancel()
    region.deallocate()
  }

  /// The address behind redirects, for messages.
  public private(set) var place: String

  private func begin(_ idle: Double?) throws(LinkEnd) {
    while head == nil, end == nil { try wait(idle) }
    place = exchange?.place ?? place
    guard let head else { throw failure ?? .lost("no answer") }
    if (200...299).contains(head.status) { return }
    // The body of an error tells more of it, and need not end.
    let until = Clock.monotonic + StreamPolicy.errorWait
    while end == nil, count < Fetch.mostOfError, Clock.monotonic < until {
      try waiter.wait(until: until)
    }
    let body = Array(region[..<min(count, Fetch.mostOfError)])
    throw .refused(head, body)
  }

  /// Waits for the next bytes of the body.
  ///
  /// - Parameter idle: seconds of silence after which the connection counts as lost; nil for never.
  /// - Returns: valid until the next call; nil at the end of the body.
  public func receive(idle: Double? = nil) throws(LinkEnd) -> UnsafeRawBufferPointer? {
    if isLent { (count, isLent) = (0, false) }
    if isPaused {
      (isPaused, lastHeard) = (false, Clock.monotonic)
      exchange?.resume()
    }
    while count == 0 {
      if let failure { throw failure }
      if end != nil { return nil }
      try wait(idle)
    }
    isLent = true
    lastHeard = Clock.monotonic
    return UnsafeRawBufferPointer(rebasing: region[..<count])
  }

  /// Lets silence pass for life, while nobody listened.
  public func restart() { lastHeard = Clock.monotonic }

  private func wait(_ idle: Double?) throws(LinkEnd) {
    // A head may come drop by drop, and never end.
    if head != nil, let exchange, exchange.received != received {
      received = exchange.received
      lastHeard = Clock.monotonic
    }
    guard let idle else { return try waiter.wait(until: .infinity) }
    if Clock.monotonic - lastHeard >= idle {
      throw .lost("nothing came for \(StreamPolicy.seconds(idle)) s")
    }
    try waiter.wait(until: lastHeard + idle)
  }

  private func append(_ bytes: UnsafeRawBufferPointer) -> BodyFlow {
    guard !isLent, bytes.count <= region.count - count else {
      isPaused = true
      return .pause
    }
    UnsafeMutableRawBufferPointer(rebasing: region[count...]).copyMemory(from: bytes)
    count += bytes.count
    return .taken
  }

  /// What the transfer ended with, where that is no end of the body.
  private var failure: LinkEnd? {
    switch end {
    case .network(let reason): .lost(reason)
    case .unusable(let reason): .failed(AnswerProblem(reason, .failure), at: place)
    case .complete, .stopped, nil: nil
    }
  }
}
