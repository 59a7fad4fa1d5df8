import Core
import Records
import Web

/// Fetches the rows that a new snapshot does not reach: one answer where that is
/// enough, else page by page, within bounds, for the stream waits meanwhile.
struct ActivityBackfill {
  struct Found {
    /// Newest first; each once.
    var rows: [[UInt8]] = []
    var unreached: [ActionPages.Unreached] = []
    var first: [[UInt8]] = []
    /// Why this is not all, and whether a later try may be better; nil where it is.
    var failure: (reason: String, isTransient: Bool)?
  }

  /// The bounds of paging: requests, seconds, and bytes in memory.
  private static let mostRequests = 100
  private static let mostSeconds = 60.0
  private static let mostBytes = 256 << 20

  private let follow: Follow
  private let request: Request
  private let base: WebAddress
  private let ledger: ActivityLedger
  private var pages: ActionPages
  private var requests = 0
  private var bytes = 0
  private let deadline = Clock.monotonic + mostSeconds
  private var first: [[UInt8]] = []
  private var isOnEdge = false
  private var hours: String?

  init(_ follow: Follow, _ request: Request, base: WebAddress, ledger: ActivityLedger) {
    (self.follow, self.request, self.base, self.ledger) = (follow, request, base, ledger)
    pages = ActionPages(
      kinds: nil, guild: nil, prefix: ledger.prefix, since: ledger.newestTime,
      names: ledger.names)
  }

  mutating func run() throws(LinkEnd) -> Found {
    while true {
      if requests >= Self.mostRequests || bytes > Self.mostBytes || isLate { pages.stop() }
      let query: ActionPages.Query?
      let path: String
      switch pages.next() {
      case .done: return found()
      case .askGuilds: (query, path) = (nil, ClankyPath.guilds)
      case .ask(let next):
        (query, path) = (next, next.path(limit: ActionPages.mostRows, sinceHours: hours))
      }
      var request = request
      guard let address = try? base.appending(path) else { return failed("no address", false) }
      request.address = address
      requests += 1
      let end = try follow.end(of: request, until: requests > 1 ? deadline : .infinity)
      switch end {
      case .late: continue
      case .failed where isLate: continue
      case .failed(let reason): return failed(reason, true)
      case .unusable(let failure): return failed(failure.reason, true)
      case .response(let head, _) where head.isTransient: return failed(head.summary, true)
      case .response(let head, let body):
        let list = head.status == 200 ? Answer.elements(body) : nil
        guard let query else {
          // A backend without guilds has none to ask for.
          pages.receive(guilds: GuildChoice.guilds(in: list ?? []).map(\.id))
          continue
        }
        guard let list else {
          return failed(
            head.status == 200 ? "the answer is not an array" : head.summary, false)
        }
        if requests == 1 {
          first = list
          switch ledger.reach(of: list) {
          case .whole: return Found(rows: list, first: list)
          case .edge: isOnEdge = true
          case .short: break
          }
          hours = window(head)
        }
        receive(list, query)
      }
    }
  }

  private var isLate: Bool { requests > 1 && Clock.monotonic >= deadline }

  private mutating func receive(_ list: [[UInt8]], _ query: ActionPages.Query) {
    let newest = ledger.newestTime
    let rows = list.map { ActionPages.Row($0) }
    let recent = rows.filter { row in
      newest.flatMap { newest in row.time.map { $0 >= newest } } ?? true
    }
    bytes += recent.reduce(0) { $0 + $1.bytes.count }
    pages.receive(
      recent, for: query,
      isFull: rows.count >= ActionPages.mostRows && recent.count == rows.count)
  }

  /// The window that reaches back to what was printed; nil where the server does
  /// not tell its time: one whose clock is ahead would leave out rows.
  private func window(_ head: ResponseHead) -> String? {
    guard let date = head.date, let newest = ledger.newestTime else { return nil }
    let minute = 60.0
    return ActionPages.hours(max(date, Clock.unix) - Double(newest.seconds) + minute)
  }

  private mutating func found() -> Found {
    var found = Found(rows: pages.certain(), first: first)
    // Rows from before it are printed: what is behind them was, too.
    if isOnEdge { return found }
    found.unreached = pages.unreached
    if let missing = pages.missingIDs, missing != 0, let before = pages.blindBefore {
      found.unreached.append(ActionPages.Unreached(before: before))
    }
    return found
  }

  private mutating func failed(_ reason: String, _ isTransient: Bool) -> Found {
    pages.stop()
    var found = first.isEmpty ? Found() : found()
    found.failure = (reason, isTransient)
    return found
  }
}
