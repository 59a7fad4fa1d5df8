public import CLibc
public import Core

/// Why a wire stops: it connects, reads, and throws one of these; `Follow` in the module Agent
/// calls it again, or does not.
public enum LinkEnd: Error {
  /// The connection is lost, or was not to be had; no other try before so many seconds, where the
  /// server says so. One line.
  case lost(String, after: Double? = nil)
  /// The other side has closed it in order, with a code and words; the code is nil where it gave
  /// none.
  case closed(UInt16?, String)
  /// A person is to let this device in first; one line.
  case waits(String, after: Double?)
  /// It is to be made again at once, as it has brought something and not all; one line.
  case again(String)
  /// The other side broke the protocol; one line.
  case violated(String)
  /// The server gave another answer than a stream: its head, and the body or the beginning of it.
  case refused(ResponseHead, [UInt8])
  /// No later try would help. The place is the address, for messages; nil for that of the stream.
  case failed(Failure, at: String? = nil)
  /// The server wants no further connection (204).
  case noContent
  /// Nothing more is wanted.
  case over
}

/// The one place where a process waits: for files, for the transfers of a client, for a signal,
/// for a time. Who is called there keeps house (`Follow`); who calls it reads from top to bottom.
open class Waiter {
  /// Drives the transfers.
  public let client: WebClient

  public init(_ client: WebClient) { self.client = client }

  /// Whether nothing more is wanted.
  open var isOver: Bool { false }

  /// The files that are always waited for; none, unless whoever waits looks at them behind it.
  open var files: [pollfd] { [] }

  /// Signals, and the other end of standard output, which may go away.
  public static var signalsAndOutput: [pollfd] {
    reading(EndSignals.descriptor) + [pollfd(fd: 1, events: 0, revents: 0)]
  }

  /// Called before each wait.
  ///
  /// - Returns: when it is to be over at the latest, seconds of `Clock.monotonic`.
  /// - Throws: `LinkEnd.over` when nothing more is wanted.
  open func willWait() throws(LinkEnd) -> Double { .infinity }

  /// A file to wait for until it can be read.
  public static func reading(_ file: Int32?) -> [pollfd] {
    file.map { [pollfd(fd: $0, events: Int16(POLLIN), revents: 0)] } ?? []
  }

  /// Called behind each wait.
  ///
  /// - Throws: `LinkEnd.over` when nothing more is wanted.
  open func hasWaited() throws(LinkEnd) {}

  /// Waits until one of the files is ready, a transfer gets on, or the time has come, and lets the
  /// transfers do what they can.
  ///
  /// - Parameters:
  ///   - until: seconds of `Clock.monotonic`.
  ///   - more: what else to wait for, asked when all is said that is to be said before the wait.
  /// - Throws: `LinkEnd.over` when nothing more is wanted, or what `more` throws.
  public final func wait(
    until: Double, _ more: () throws(LinkEnd) -> [pollfd] = { [] }
  ) throws(LinkEnd) {
    let due = min(until, try willWait())
    client.wait(seconds: due - Clock.monotonic, try more() + files)
    client.perform()
    try hasWaited()
  }

  /// Asks, and waits for the end.
  ///
  /// - Parameters: as of `Fetches`.
  public final func end(
    of request: Request, silence: Double = 45, limit: Int = Fetch.largest,
    until: Double = .infinity, onSend: (() -> Bool)? = nil
  ) throws(LinkEnd) -> FetchEnd {
    var fetches = Fetches(
      self, [request], silence: silence, limit: limit, until: until, onSend: onSend)
    return try fetches.next()?.end ?? .failed("no answer")
  }

  /// Asks, and waits for the whole answer.
  ///
  /// - Parameters: as of `Fetches`.
  /// - Throws: `LinkEnd.lost` when none comes, `failed` for one that cannot be used.
  public final func answer(
    _ request: Request, silence: Double, limit: Int
  ) throws(LinkEnd) -> (head: ResponseHead, body: [UInt8]) {
    switch try end(of: request, silence: silence, limit: limit) {
    case .response(let head, let body): return (head, body)
    case .unusable(let failure): throw .failed(failure)
    case .failed(let reason): throw .lost(reason)
    case .late: throw .lost("no answer")
    }
  }
}

/// Several things that are asked, some at a time, whose ends are handed out as they come. What is
/// under way is given up with it.
public struct Fetches: ~Copyable {
  private let waiter: Waiter
  private let requests: [Request]
  private let silence, time, until: Double
  private let limit: Int
  private let onSend: (() -> Bool)?
  private var running: [(index: Int, start: Double, fetch: Fetch)] = []
  private var asked = 0

  /// The most that are under way.
  private static let atOnce = 6

  /// - Parameters:
  ///   - waiter: waits meanwhile.
  ///   - requests: what to ask; redirects are followed.
  ///   - silence: seconds without a byte after which one has failed.
  ///   - limit: the largest body of an answer of 2xx, bytes.
  ///   - time: how long each may take, seconds.
  ///   - until: when all must have come, seconds of `Clock.monotonic`.
  ///   - onSend: as of `Exchange`.
  public init(
    _ waiter: Waiter, _ requests: [Request], silence: Double = .infinity,
    limit: Int = Fetch.largest, time: Double = .infinity, until: Double = .infinity,
    onSend: (() -> Bool)? = nil
  ) {
    (self.waiter, self.requests, self.limit, self.onSend) = (waiter, requests, limit, onSend)
    (self.silence, self.time, self.until) = (silence, time, until)
  }

  /// Waits for the next end.
  ///
  /// - Returns: with its place among the requests; nil when there are no more.
  public mutating func next() throws(LinkEnd) -> (end: FetchEnd, index: Int)? {
    while true {
      let now = Clock.monotonic
      while asked < requests.count, running.count < Self.atOnce {
        let fetch = Fetch(
          waiter.client, requests[asked], now: now, silence: silence, limit: limit, onSend: onSend)
        running.append((asked, now, fetch))
        asked += 1
      }
      if running.isEmpty { return nil }
      var due = Double.infinity
      for (place, each) in running.enumerated() {
        due = min(due, each.fetch.due(now), each.start + time, until)
        let isLate = now >= min(each.start + time, until)
        guard let end = each.fetch.end ?? (isLate ? .late : nil) else { continue }
        running.remove(at: place)
        return (end, each.index)
      }
      try waiter.wait(until: due)
    }
  }
}
