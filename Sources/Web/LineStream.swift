import Core

/// An answer that goes on, read line by line as it comes, in a loop that waits for more than this:
/// nothing of it blocks.
public final class LineStream: Exchange {
  /// The head, once it is there.
  public private(set) var head: ResponseHead?
  /// How it ended; nil while it goes on.
  public private(set) var end: ExchangeEnd?
  /// When something came last, seconds of `Clock.monotonic`; before that, when it was asked for.
  public private(set) var lastHeard = Clock.monotonic
  private var bytes: [UInt8] = []
  /// Where the next line begins.
  private var start = 0
  /// Whether what comes is of a line that is too long.
  private var isSkipping = false
  private let longest: Int

  /// Asks; redirects are followed.
  ///
  /// - Parameter longest: the longest line, bytes; a longer one is left out.
  public init(_ client: WebClient, _ request: Request, longest: Int = 1 << 17) {
    self.longest = longest
    super.init(client, request)
    start()
  }

  /// The next line without its LF; nil when there is none for now.
  public func next() -> [UInt8]? {
    guard let end = bytes[start...].firstIndex(of: 10) else {
      bytes.removeSubrange(..<start)
      start = 0
      return nil
    }
    defer { start = end + 1 }
    return Array(bytes[start..<end])
  }

  /// What came behind the last line: of an error, its body.
  public var rest: [UInt8] { Array(bytes[start...]) }

  override func received(_ head: ResponseHead) -> Bool {
    self.head = head
    lastHeard = Clock.monotonic
    return true
  }

  override func received(_ piece: UnsafeRawBufferPointer) -> BodyFlow {
    lastHeard = Clock.monotonic
    var piece = piece[...]
    if isSkipping {
      guard let end = piece.firstIndex(of: 10) else { return .taken }
      isSkipping = false
      piece = piece[(end + 1)...]
    }
    bytes += piece
    // Whoever may write one must not end what others are read from.
    let last = bytes.lastIndex(of: 10).map { $0 + 1 } ?? 0
    if bytes.count - last > longest {
      bytes.removeSubrange(last...)
      isSkipping = true
    }
    return .taken
  }

  override func ended(_ end: ExchangeEnd) { self.end = end }
}
