public import Core

/// How a fetch ended.
public enum FetchEnd {
  /// A response came whole: its head and its body.
  case response(ResponseHead, [UInt8])
  case failed(String)
  /// What no later try betters: redirects that make no sense, a body past the
  /// limit, an event stream, whose end never comes, or, `denied`, another certificate than the
  /// profile's.
  case unusable(Failure)
  /// It did not come whole in time.
  case late
}

/// One request whose whole answer is wanted, beside other transfers of a client.
public final class Fetch: Exchange {
  private var head: ResponseHead?
  private var body = Body()
  /// Whether the body of the answer is larger than the limit: then it ends as `unusable`.
  public private(set) var isTooLarge = false
  private var countBefore: Int64 = -1
  private var lastByte: Double
  private let silence: Double
  private let limit: Int
  /// How it ended; nil while it goes on.
  public private(set) var end: FetchEnd?

  /// The largest answer that is taken, bytes.
  public static let largest = 64 << 20
  /// More of an error says nothing more, bytes.
  static let mostOfError = 64 << 10

  /// Starts at once.
  ///
  /// - Parameters:
  ///   - client: whose `perform` drives it.
  ///   - request: what to ask; redirects are followed.
  ///   - now: seconds of `Clock.monotonic`.
  ///   - silence: seconds without a byte after which it fails.
  ///   - limit: the largest body of an answer of 2xx, bytes; of any other the
  ///     beginning is handed over.
  ///   - onSend: as of `Exchange`; false ends it as `failed`.
  public init(
    _ client: WebClient, _ request: Request, now: Double, silence: Double = 45,
    limit: Int = Fetch.largest, onSend: (() -> Bool)? = nil
  ) {
    self.silence = silence
    self.limit = limit
    lastByte = now
    super.init(client, request, onSend: onSend)
    start()
  }

  override func received(_ head: ResponseHead) -> Bool {
    self.head = head
    return !isStream && !isTooLarge(head)
  }

  /// When it is to be looked at again at the latest, seconds of `Clock.monotonic`: it is now that
  /// silence is noticed.
  public func due(_ now: Double) -> Double {
    if end != nil { return now }
    // A head may come drop by drop, and never end.
    if receivedCount != countBefore {
      countBefore = receivedCount
      if head != nil { lastByte = now }
    }
    // The body of an error need not end when it is of a stream.
    let isRefusal = isError && head?.isEventStream == true
    let patience = isRefusal ? min(silence, StreamPolicy.errorWait) : silence
    if now - lastByte >= patience {
      cancel()
      if isRefusal { ended(.stopped) } else { end = .failed("no answer") }
      return now
    }
    return lastByte + patience
  }

  private var isError: Bool { head.map { !(200...299).contains($0.status) } ?? false }

  /// Whether an answer that is no error is a stream, which does not end.
  private var isStream: Bool { head?.isEventStream == true && !isError }

  /// By the length on the wire, which compression only makes smaller.
  private func isTooLarge(_ head: ResponseHead) -> Bool {
    isTooLarge = !isError && head.value("Content-Length").flatMap { Int($0) } ?? 0 > limit
    return isTooLarge
  }

  override func received(_ bytes: UnsafeRawBufferPointer) -> BodyFlow {
    let most = isError ? Self.mostOfError : limit
    if bytes.count > most - body.count {
      isTooLarge = true
      body.append(UnsafeRawBufferPointer(rebasing: bytes[..<(most - body.count)]))
      return .stop
    }
    body.append(bytes)
    return .taken
  }

  override func ended(_ end: ExchangeEnd) {
    self.end =
      switch end {
      case .complete: head.map { .response($0, body.take()) } ?? .failed("no answer")
      case .stopped where isStream:
        .unusable(Failure("an event stream, which does not end; see sse-tail(1)", .failure))
      case .stopped, .unusable:
        if isError, let head {
          .response(head, body.take())
        } else if case .unusable(let failure) = end {
          .unusable(failure)
        } else if isTooLarge {
          .unusable(Failure("the answer is larger than \(limit) bytes", .failure))
        } else {
          .failed("ended")
        }
      case .network(let reason): .failed(reason)
      }
  }
}

/// The bytes of an answer as they come: in pieces, so that a large one is in memory
/// once, and not twice each time that it grows.
struct Body {
  private static let pieceSize = 1 << 20
  private var pieces: [[UInt8]] = []
  private(set) var count = 0

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    count += bytes.count
    if let last = pieces.indices.last, pieces[last].count + bytes.count <= Self.pieceSize {
      pieces[last] += bytes
    } else {
      pieces.append(Array(bytes))
    }
  }

  /// Hands all of them out, and gives each piece back as soon as it was copied.
  mutating func take() -> [UInt8] {
    defer { self = Body() }
    if pieces.count < 2 { return pieces.first ?? [] }
    var whole: [UInt8] = []
    whole.reserveCapacity(count)
    for index in pieces.indices {
      whole += pieces[index]
      pieces[index] = []
    }
    return whole
  }
}
