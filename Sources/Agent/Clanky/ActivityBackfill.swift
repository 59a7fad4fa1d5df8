import Core
import Web

/// Fetches the rows that a new snapshot does not reach: one answer where that is
/// enough, else page by page, within bounds, for the stream waits meanwhile.
final class ActivityBackfill {
  /// What was fetched.
  struct Found {
    /// Newest first; each once.
    var rows: [[UInt8]] = []
    /// What could not be had.
    var unreached: [ActionPages.Unreached] = []
    /// The newest rows of all kinds, as they came.
    var first: [[UInt8]] = []
  }

  /// How it ended.
  enum End {
    case found(Found)
    /// The reason, whether a later try may be better, and what is in hand.
    case failed(String, isTransient: Bool, Found)
  }

  /// The bounds of paging: requests, seconds, and bytes in memory.
  private static let mostRequests = 100
  private static let mostSeconds = 60.0
  private static let mostBytes = 256 << 20

  private let client: WebClient
  private let request: Request
  private let base: WebAddress
  private let ledger: ActivityLedger
  private let onEnd: (End) -> Void
  private var fetch: Fetch?
  private var pages: ActionPages
  private var requests = 0
  private var bytes = 0
  private let deadline: Double
  /// What the first answer held, which is not paged when it is enough.
  private var first: [[UInt8]] = []
  private var isOnEdge = false
  private var hours: String?

  /// Starts at once.
  ///
  /// - Parameters:
  ///   - client: whose `perform` drives it.
  ///   - request: a request to the dashboard, for its method and headers.
  ///   - base: the dashboard's address.
  ///   - ledger: what was printed.
  ///   - now: seconds of `Clock.monotonic`.
  ///   - onEnd: told the end, once.
  init(
    _ client: WebClient, _ request: Request, base: WebAddress, ledger: ActivityLedger,
    now: Double, onEnd: @escaping (End) -> Void
  ) {
    self.client = client
    self.request = request
    self.base = base
    self.ledger = ledger
    self.onEnd = onEnd
    deadline = now + Self.mostSeconds
    pages = ActionPages(
      kinds: nil, guild: nil, prefix: ledger.prefix, since: ledger.newestTime,
      names: ledger.names)
    goOn(now)
  }

  /// Ends it; nothing more is told.
  func cancel() {
    fetch?.cancel()
    fetch = nil
  }

  /// Notices silence, and that it took too long.
  ///
  /// - Parameter now: seconds of `Clock.monotonic`.
  /// - Returns: the time at which to be called again at the latest.
  func tick(now: Double) -> Double {
    if requests > 1, now >= deadline, fetch != nil {
      cancel()
      pages.stop()
      goOn(now)
    }
    return min(fetch?.tick(now: now) ?? .infinity, requests > 1 ? deadline : .infinity)
  }

  private func goOn(_ now: Double) {
    if requests >= Self.mostRequests || bytes > Self.mostBytes { pages.stop() }
    switch pages.next() {
    case .done: onEnd(.found(found()))
    case .askGuilds:
      ask(ClankyPath.guilds, now) { [unowned self] _, list in
        pages.take(guilds: GuildChoice.guilds(in: list ?? []).map(\.id))
        goOn(Clock.monotonic)
      }
    case .ask(let query):
      ask(query.path(limit: ActionPages.mostRows, sinceHours: hours), now) { [unowned self] in
        take($0, $1, query)
      }
    }
  }

  /// Asks for a list; hands over nil when the backend has none.
  private func ask(
    _ path: String, _ now: Double, then take: @escaping (ResponseHead, [[UInt8]]?) -> Void
  ) {
    var request = request
    guard let address = try? base.appending(path) else { return fail("no address", false) }
    request.address = address
    requests += 1
    fetch = Fetch(client, request, now: now) { [unowned self] end in
      fetch = nil
      switch end {
      case .failed(let reason), .unusable(let reason): fail(reason, true)
      case .response(let head, _) where head.isTransient: fail(head.summary, true)
      case .response(let head, let body):
        take(head, head.status == 200 ? Answer.elements(body) : nil)
      }
    }
  }

  private func take(_ head: ResponseHead, _ list: [[UInt8]]?, _ query: ActionPages.Query) {
    guard let list else {
      let reason = head.status == 200 ? "the answer is not an array" : head.summary
      return fail(reason, false)
    }
    if requests == 1 {
      first = list
      switch ledger.reach(of: list) {
      case .whole: return onEnd(.found(Found(rows: list, first: list)))
      case .edge: isOnEdge = true
      case .short: break
      }
      hours = window(head)
    }
    let newest = ledger.newestTime
    let rows = list.map { ActionPages.Row($0) }
    let recent = rows.filter { row in
      newest.flatMap { newest in row.time.map { $0 >= newest } } ?? true
    }
    bytes += recent.reduce(0) { $0 + $1.bytes.count }
    pages.take(
      recent, for: query,
      isFull: rows.count >= ActionPages.mostRows && recent.count == rows.count)
    goOn(Clock.monotonic)
  }

  /// The window that reaches back to what was printed; nil where the server does
  /// not tell its time: one whose clock is ahead would leave out rows.
  private func window(_ head: ResponseHead) -> String? {
    guard let date = head.date, let newest = ledger.newestTime else { return nil }
    let minute = 60.0
    return ActionPages.hours(max(date, Clock.unix) - Double(newest.seconds) + minute)
  }

  private func found() -> Found {
    var found = Found(rows: pages.certain(), first: first)
    // Rows from before it are printed: what is behind them was, too.
    if isOnEdge { return found }
    found.unreached = pages.unreached
    if let missing = pages.missingIDs, missing != 0, let before = pages.blindBefore {
      found.unreached.append(ActionPages.Unreached(before: before))
    }
    return found
  }

  private func fail(_ reason: String, _ isTransient: Bool) {
    pages.stop()
    onEnd(.failed(reason, isTransient: isTransient, first.isEmpty ? Found() : found()))
  }
}
