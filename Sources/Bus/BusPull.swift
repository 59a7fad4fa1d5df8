/// What was asked for and has not come yet, and when to ask for more: so much that the server
/// need not wait for us, and never more than there is room for. It has no clock of its own.
public struct BusPull {
  private struct Asked {
    let token: Int
    let count: Int
    var left: Int
  }

  /// What a consumer lets be asked for; nil where it sets no limit.
  public struct Limits: Equatable, Sendable {
    /// Records of one request.
    public var batch: Int?
    /// Bytes of one request.
    public var bytes: Int?
    /// Requests that wait at the same time.
    public var requests: Int?
    /// When a request is over, seconds.
    public var expires: Double?

    /// None.
    public init() {}
  }

  /// What the consumer lets be asked for.
  public var limits = Limits()
  private let batch: Int
  private var wanted: Int
  private var asked: [Asked] = []
  private var lastToken = 0
  /// Then it is asked for alone: several of its size are more than we care to hold.
  private var isLargeNext = false
  private var heardAt = 0.0

  /// When a request is over, seconds.
  public var expires: Double { min(Self.usualExpires, limits.expires ?? .infinity) }
  /// How often the server says that it is alive, seconds: less than half of that.
  public var heartbeat: Double { min(3, expires * 0.4) }
  private static let usualExpires = 20.0
  /// After how much silence all is asked again, seconds.
  public static let patience = 8.0
  /// So many bytes in hand, and nothing more is asked for.
  static let mostHeld = 1 << 20
  /// The bytes of one request, usually; another request comes with each so many.
  static let usualBytes = 2 << 20

  /// - Parameters:
  ///   - batch: how many records may be asked for and in hand.
  ///   - wanted: how many are wanted at all.
  public init(batch: Int = 128, wanted: Int = .max) {
    (self.batch, self.wanted) = (batch, wanted)
  }

  /// How many are on their way, as far as we know.
  public var outstanding: Int { asked.reduce(0) { $0 + $1.left } }

  /// Whether no more are wanted.
  public var hasAll: Bool { wanted <= 0 }

  /// The bytes of the request that `ask` said.
  ///
  /// - Parameter maxPayload: the most that the server sends at once; asked for less, it would
  ///   keep a large record back for ever.
  public func bytes(maxPayload: Int) -> Int {
    let bytes = isLargeNext ? max(Self.usualBytes, maxPayload + 64 << 10) : Self.usualBytes
    return min(bytes, limits.bytes ?? .max)
  }

  /// The bytes that no request may have, where the next record has more.
  public var tooFew: Int? { isLargeNext ? limits.bytes : nil }

  /// What is to be asked for now; it counts as asked.
  ///
  /// - Parameters:
  ///   - held: how many records are in hand, and how many bytes of them.
  ///   - now: seconds.
  /// - Returns: nil for nothing; `token` stands for the request in the calls below.
  public mutating func ask(
    held: (count: Int, bytes: Int), now: Double
  ) -> (token: Int, count: Int)? {
    let taken = outstanding + held.count
    guard taken * 2 <= batch, held.bytes <= Self.mostHeld else { return nil }
    let most = min(isLargeNext ? 1 : batch - taken, limits.batch ?? .max)
    let count = min(most, wanted - outstanding)
    guard count > 0, asked.count < (isLargeNext ? 1 : limits.requests ?? .max) else { return nil }
    if asked.isEmpty { heardAt = now }
    lastToken += 1
    asked.append(Asked(token: lastToken, count: count, left: count))
    return (lastToken, count)
  }

  /// A record of so many bytes came; requests are answered in their order.
  public mutating func came(now: Double, bytes: Int = 0) {
    heardAt = now
    // Large ones seldom come alone.
    isLargeNext = isLargeNext && bytes > Self.usualBytes / 2
    wanted -= 1
    guard !asked.isEmpty else { return }
    asked[0].left -= 1
    if asked[0].left <= 0 { asked.removeFirst() }
  }

  /// A record that came was not for us after all.
  public mutating func wantsOneMore() { wanted += 1 }

  /// The server is alive.
  public mutating func heard(now: Double) { heardAt = now }

  /// A request is over, whatever came of it.
  ///
  /// - Parameter isCut: whether the server says that it could not be fulfilled. If nothing came of
  ///   it, the next record was too large.
  public mutating func end(_ token: Int, now: Double, isCut: Bool = false) {
    heardAt = now
    if isCut, asked.contains(where: { $0.token == token && $0.left == $0.count }) {
      isLargeNext = true
    }
    asked.removeAll { $0.token == token }
  }

  /// Nothing more comes of what was asked for.
  public mutating func forget() { asked = [] }

  /// Whether the server is silent for too long.
  public func isSilent(now: Double) -> Bool { due <= now }

  /// When it will be.
  public var due: Double { asked.isEmpty ? .infinity : heardAt + Self.patience }

  /// Since when it owes us a sign; nil when nothing is asked for.
  public var owed: Double? { asked.isEmpty ? nil : heardAt }
}
