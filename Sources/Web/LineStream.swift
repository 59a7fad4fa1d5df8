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
  private var isTooLong = false
  private let longest: Int

  /// Asks; redirects are followed.
  ///
  /// - Parameter longest: the longest line, bytes; a longer one ends the stream.
  public init(_ client: WebClient, _ request: Request, longest: Int = 1 << 17) {
    self.longest = longest
    super.init(client, request)
    start()
  }

  /// The next line without its LF; nil when there is none for now.
  public func next() -> [UInt8]? {
    guard let end = bytes.firstIndex(of: 10) else { return nil }
    defer { bytes.removeSubrange(...end) }
    return Array(bytes[..<end])
  }

  /// What came behind the last line: of an error, its body.
  public var rest: [UInt8] { bytes }

  override func received(_ head: ResponseHead) -> Bool {
    self.head = head
    lastHeard = Clock.monotonic
    return true
  }

  override func received(_ piece: UnsafeRawBufferPointer) -> BodyFlow {
    lastHeard = Clock.monotonic
    bytes += piece
    // Whoever reads has taken all lines before.
    let tail = bytes.count - (bytes.lastIndex(of: 10).map { $0 + 1 } ?? 0)
    isTooLong = tail > longest
    return isTooLong ? .stop : .taken
  }

  override func ended(_ end: ExchangeEnd) {
    self.end = isTooLong ? .network("a line is longer than \(longest) bytes") : end
  }
}
