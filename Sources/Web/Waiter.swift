public import CLibc
import Core

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
  case failed(AnswerProblem, at: String? = nil)
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

  /// - Parameter client: drives the transfers.
  public init(_ client: WebClient) { self.client = client }

  /// Whether nothing more is wanted.
  open var isOver: Bool { false }

  /// The files that are always waited for, for reading.
  open var descriptors: [Int32] { [EndSignals.descriptor] }

  /// Called before each wait.
  ///
  /// - Returns: when it is to be over at the latest, seconds of `Clock.monotonic`.
  /// - Throws: `LinkEnd.over` when nothing more is wanted.
  open func willWait() throws(LinkEnd) -> Double { .infinity }

  /// Called behind each wait.
  ///
  /// - Throws: `LinkEnd.over` when nothing more is wanted.
  open func hasWaited() throws(LinkEnd) {}

  /// Waits until one of the files is ready, a transfer gets on, a signal comes, standard output is
  /// closed, or the time has come, and lets the transfers do what they can.
  ///
  /// - Parameters:
  ///   - until: seconds of `Clock.monotonic`.
  ///   - files: what else to wait for, asked when all is said that is to be said before the wait.
  /// - Throws: `LinkEnd.over` when nothing more is wanted, or what `files` throws.
  public final func wait(
    until: Double, _ files: () throws(LinkEnd) -> [pollfd] = { [] }
  ) throws(LinkEnd) {
    let due = min(until, try willWait())
    var all = try files()
    all += descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    // Standard output, for its other end going away.
    all.append(pollfd(fd: 1, events: 0, revents: 0))
    client.wait(seconds: due - Clock.monotonic, all)
    client.perform()
    try hasWaited()
  }

  /// Asks several things, some at a time, and waits for all answers.
  ///
  /// - Parameters:
  ///   - requests: what to ask; redirects are followed.
  ///   - silence: seconds without a byte after which one has failed.
  ///   - limit: the largest body of an answer of 2xx, bytes.
  ///   - atOnce: the most that are under way.
  ///   - until: when all must have come, seconds of `Clock.monotonic`; what has not failed by
  ///     then is missing.
  ///   - onSend: as of `Exchange`.
  ///   - enough: told each end and its place among the requests, as it comes; true ends all.
  /// - Returns: whether it was not too late.
  public final func fetch(
    _ requests: [Request], silence: Double, limit: Int, atOnce: Int = 6, until: Double = .infinity,
    onSend: (() -> Bool)? = nil, enough: (FetchEnd, Int) throws(LinkEnd) -> Bool
  ) throws(LinkEnd) -> Bool {
    var running: [Int: Fetch] = [:]
    var ended: [(FetchEnd, Int)] = []
    var next = 0
    defer { for fetch in running.values { fetch.cancel() } }
    while true {
      let now = Clock.monotonic
      while next < requests.count, running.count < atOnce {
        let index = next
        running[index] = Fetch(
          client, requests[index], now: now, silence: silence, limit: limit, onSend: onSend
        ) { ended.append(($0, index)) }
        next += 1
      }
      let due = running.values.reduce(until) { min($0, $1.tick(now: now)) }
      for (end, index) in ended {
        running[index] = nil
        if try enough(end, index) { return true }
      }
      let isIdle = ended.isEmpty
      ended = []
      if running.isEmpty, next == requests.count { return true }
      if now >= until { return false }
      if isIdle { try wait(until: due) }
    }
  }

  /// Asks, and waits for the end.
  ///
  /// - Parameters: as of `fetch`.
  /// - Returns: `failed` also when it is too late.
  public final func end(
    of request: Request, silence: Double = 45, limit: Int = Fetch.largest,
    until: Double = .infinity,
    onSend: (() -> Bool)? = nil
  ) throws(LinkEnd) -> FetchEnd {
    var found = FetchEnd.failed("no answer")
    _ = try fetch([request], silence: silence, limit: limit, until: until, onSend: onSend) {
      end, _ throws(LinkEnd) in
      found = end
      return true
    }
    return found
  }

  /// Asks, and waits for the whole answer.
  ///
  /// - Parameters: as of `fetch`.
  /// - Throws: `LinkEnd.lost` when none comes, `failed` for one that cannot be used.
  public final func answer(
    _ request: Request, silence: Double, limit: Int
  ) throws(LinkEnd) -> (head: ResponseHead, body: [UInt8]) {
    switch try end(of: request, silence: silence, limit: limit) {
    case .response(let head, let body): return (head, body)
    case .unusable(let reason): throw .failed(AnswerProblem(reason, .failure))
    case .failed(let reason): throw .lost(reason)
    }
  }
}
