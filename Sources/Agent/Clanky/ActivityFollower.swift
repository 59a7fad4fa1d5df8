import Core
import Records
import Web

/// A dashboard's stream, kept whole over reconnects: before a new snapshot is printed that does not
/// reach what was printed, or the first state of the voice stream, which has no snapshot, the rows
/// between are fetched.
final class ActivityFollower {
  private static let mostTries = 3
  /// How many of the newest rows tell where a voice stream begins.
  private static let rowsOfStart = 20

  private let stream: DashboardStream
  private let follow: Follow
  private let wire: EventWire
  private let request: Request
  private let base: WebAddress
  private var ledger: ActivityLedger
  private var failures = 0
  /// Whether the connection has told no voice state yet.
  private var isNew = true
  private var isUnderWay = false
  private var lastID: [UInt8]
  /// The last id as a number, and whether the connection has brought none yet.
  private var number: Int64?
  private var isFresh = true

  init(
    _ stream: DashboardStream, _ follow: Follow, _ request: Request, base: WebAddress,
    resumingAt state: FollowState?
  ) {
    (self.stream, self.follow, self.base) = (stream, follow, base)
    wire = EventWire(follow, request)
    var rows = request
    rows.method = "GET"
    rows.body = nil
    rows.headers = [Header("Accept", "application/json")]
    self.request = rows
    lastID = Array((state?.lastEventID ?? "").utf8)
    number = Int64(state?.lastEventID ?? "")
    ledger = ActivityLedger(
      resumingAt: state?.newest, prefix: stream == .voice ? ClankyPath.voiceKinds : nil)
    follow.newest = { [unowned self] in ledger.newestText }
  }

  func run() throws(LinkEnd) -> Never {
    (isNew, isFresh) = (true, true)
    // Ids that began anew are of newer actions (Agent/Clanky/CONTRACT.md 9.2).
    let response = try wire.open(
      resuming: ledger.newestText.map { [Header("X-Last-Event-Time", $0)] } ?? [])
    var isBehindGap = false
    func waits(_ event: StreamEventView) -> Bool {
      isBehindGap = !event.isPartial && isBehind(gap: event)
      return isBehindGap
    }
    try wire.read(response, waits: waits) { [self] item throws(LinkEnd) in
      guard case .event(let event) = item else { return try follow.print(item) }
      watch(event.id)
      if isBehindGap {
        isBehindGap = false
        try fill(before: HeldEvent(event))
        response.restart()
      }
      isUnderWay = true
      if !lastID.elementsEqual(event.id) { lastID = Array(event.id) }
      if !event.isPartial { note(event.type, event.data) }
      try follow.print(event)
    }
  }

  /// Notices that the ids of a dashboard began again.
  private func watch(_ id: UnsafeRawBufferPointer) {
    // An event without an id of its own has the last one's.
    guard let found = Int64(String(decoding: id, as: UTF8.self)), found != number else { return }
    if isFresh, let number, found < number {
      follow.note("the ids of the actions began again: \(found) comes behind \(number)")
    }
    (number, isFresh) = (found, false)
  }

  private func note(_ type: UnsafeRawBufferPointer, _ data: UnsafeRawBufferPointer) {
    if type.elementsEqual("activity_snapshot".utf8) {
      ledger.note(snapshot: data)
    } else if type.elementsEqual("action_event".utf8) {
      ledger.note(live: data)
    } else if type.elementsEqual("voice_event".utf8) {
      ledger.note(live: data, source: .voiceEvent)
    }
  }

  // MARK: - Gaps

  /// Whether something may be missing between what was printed and an event.
  private func isBehind(gap event: StreamEventView) -> Bool {
    switch stream {
    case .activity:
      return event.type.elementsEqual("activity_snapshot".utf8) && !ledger.isReached(by: event.data)
    case .voice:
      guard event.type.elementsEqual("voice_state".utf8), isNew else { return false }
      isNew = false
      // The server knows by the last event id what was missed. Of its own a state has an id only
      // where a client begins anew.
      return event.id.isEmpty || !(lastID.isEmpty || lastID.elementsEqual(event.id))
    }
  }

  private func fill(before event: HeldEvent) throws(LinkEnd) {
    if stream == .voice, !ledger.hasPlace {
      if isUnderWay { report([], before: event) }
      try findStart()
    } else {
      try backfill(before: event)
    }
    failures = 0
  }

  private func findStart() throws(LinkEnd) {
    var request = request
    let path = ClankyPath.actions(
      guild: nil, kinds: nil, sinceHours: nil, limit: Self.rowsOfStart)
    guard let address = try? base.appending(path) else { return }
    request.address = address
    let reason: String
    switch try follow.end(of: request) {
    case .response(let head, _) where head.isTransient: reason = head.summary
    case .response(let head, let body):
      if head.status == 200, let rows = Answer.elements(body) {
        let snapshot = RecordText().list("actions", rows).bytes
        snapshot.withUnsafeBytes { ledger.note(snapshot: $0) }
      }
      return
    case .failed(let text): reason = text
    case .unusable(let failure): reason = failure.reason
    case .late: reason = "no answer"
    }
    failures += 1
    if failures < Self.mostTries { throw .lost("the newest action: \(reason)") }
  }

  /// A passing failure costs the connection, so that the next one asks again;
  /// what does not pass, or fails for the third time, leaves a gap.
  private func backfill(before event: HeldEvent) throws(LinkEnd) {
    var backfill = ActivityBackfill(follow, request, base: base, ledger: ledger)
    let found = try backfill.run()
    if let failure = found.failure, failure.isTransient, failures + 1 < Self.mostTries {
      failures += 1
      throw .lost("missed actions: \(failure.reason)")
    }
    if found.failure != nil || !found.unreached.isEmpty { report(found.unreached, before: event) }
    let missed = event.data.withUnsafeBytes { ledger.missed(in: found.rows, snapshot: $0) }
    // Oldest first, each newest first in itself, as a snapshot.
    var end = missed.count
    while end > 0 {
      let start = max(0, end - ActionPages.mostRows)
      let data = RecordText().list("actions", Array(missed[start..<end])).bytes
      try follow.printExtra(HeldEvent(type: Array("actions_backfill".utf8), data: data))
      end = start
    }
    if stream == .voice { ledger.pass(found.first) }
  }

  private func report(_ unreached: [ActionPages.Unreached], before event: HeldEvent) {
    follow.report(event.data.withUnsafeBytes { ledger.gap(unreached, before: $0) })
  }
}

extension ActionPages.Unreached {
  /// `llm_call in guild 1`; empty when it may be anything.
  var words: String {
    guard let kind else { return "" }
    return kind + (guild.map { $0.isEmpty ? " in no guild" : " in guild \($0)" } ?? "")
  }

  /// `{"kind":"llm_call","guild_id":"1","before":"..."}`; what is not known is
  /// left out.
  var record: String {
    RecordText().string("kind", kind)
      .json("guild_id", guild.map { $0.isEmpty ? "null" : JSONQuote.string($0) })
      .time(before, as: "before").text
  }
}

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
          pages.receive(guilds: [ToldName](guilds: list ?? []).map(\.id))
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

/// Knows which actions of a dashboard's stream were printed, and finds what a
/// reconnect has missed (Agent/Clanky/CONTRACT.md 2.3: no event ids; on the activity
/// stream a snapshot of the newest rows at each connection, newest first).
struct ActivityLedger {
  enum Reach {
    /// To before the newest action printed: everything behind that is there.
    case whole
    /// To one that was printed: others of its instant may be cut off.
    case edge
    /// Not so far.
    case short
  }

  private typealias Mark = (time: Timestamp, text: String)

  private var printed = ActionWindow(capacity: 16 * 1024)
  private let scratch = ScanScratch()
  private var newest: Mark?
  private(set) var names = ActionNames()
  /// Rows before this were never this follower's.
  private var floor: Mark?
  private var hasBaseline = false
  let prefix: String?

  init(resumingAt text: String? = nil, prefix: String? = nil) {
    self.prefix = prefix
    guard let text, let time = Timestamp(rfc3339: text) else { return }
    newest = (time, text)
    floor = newest
    hasBaseline = true
  }

  var newestText: String? { newest?.text }

  /// Whether it is known since when actions would be missed.
  var hasPlace: Bool { hasBaseline || newest != nil }

  var newestTime: Timestamp? { newest?.time }

  mutating func note(
    live data: UnsafeRawBufferPointer, source: ActionWindow.Source = .actionEvent
  ) {
    guard let fields = try? ActionFields(data) else { return }
    note(fields, source: source)
  }

  mutating func isReached(by snapshot: UnsafeRawBufferPointer) -> Bool {
    guard hasBaseline else { return true }
    guard let newest else { return false }
    // Rows are ordered by time alone: only an older one proves that all later are there.
    return Self.rows(ofSnapshot: snapshot).contains { row in
      guard let fields = try? ActionFields(row), let mark = Self.mark(fields) else { return false }
      return mark.time < newest.time
    }
  }

  /// How far back an answer of `GET /api/actions` goes.
  func reach(of rows: [[UInt8]]) -> Reach {
    if rows.count < ActionPages.mostRows { return .whole }
    var reach = Reach.short
    for row in rows {
      let isPrinted = row.withUnsafeBytes { row -> Bool? in
        guard let fields = try? ActionFields(row), let mark = Self.mark(fields) else {
          return false
        }
        if let newest, mark.time < newest.time { return nil }
        let key = ActionKey(fields, scratch: scratch)
        if let id = id(fields), printed.isKnown(id: id, key: key) { return true }
        return printed.owed(key, to: .row) > 0
      }
      guard let isPrinted else { return .whole }
      if isPrinted { reach = .edge }
    }
    return reach
  }

  /// The rows that were not printed and do not stand in the new snapshot, newest
  /// first; besides, rows of the snapshot's oldest instant that come before those,
  /// for what is printed is to be in order.
  ///
  /// The ledger counts what whoever reads the output can count, no more: of
  /// equal rows that were printed in part, all are missing, for the reader knows
  /// the printed ones by their key alone.
  mutating func missed(in rows: [[UInt8]], snapshot: UnsafeRawBufferPointer) -> [[UInt8]] {
    let edge = SnapshotEdge(Self.rows(ofSnapshot: snapshot))
    var candidates: [(row: ActionPages.Row, key: ActionKey)] = []
    var counts: [ActionKey: Int] = [:]
    for row in rows.lazy.map({ ActionPages.Row($0) }) {
      guard let time = row.time, prefix.map({ row.kind.hasPrefix($0) }) ?? true else { continue }
      if isBefore(time) || edge.isBehind(time) { continue }
      let (id, key) = keys(of: row)
      if let id, printed.isKnown(id: id, key: key) { continue }
      counts[key, default: 0] += 1
      if !edge.holds(row) { candidates.append((row, key)) }
    }
    var owed: [ActionKey: Int] = [:]
    for key in counts.keys { owed[key] = printed.owed(key, to: .row) }
    var missed = candidates.filter { counts[$0.key, default: 0] > owed[$0.key, default: 0] }
      .map(\.row)
    missed += edge.rows(before: missed)
    for row in missed {
      row.bytes.withUnsafeBytes { bytes in
        if let fields = try? ActionFields(bytes) { note(fields, source: .row) }
      }
    }
    return missed.newestFirst().map(\.bytes)
  }

  func gap(
    _ unreached: [ActionPages.Unreached], before snapshot: UnsafeRawBufferPointer
  ) -> StreamGap {
    let rows = Self.rows(ofSnapshot: snapshot)
    let marks = rows.compactMap { row in (try? ActionFields(row)).flatMap(Self.mark) }
    return StreamGap(
      after: newest?.text ?? floor?.text,
      before: unreached.map(\.before).max()?.rfc3339 ?? marks.min { $0.time < $1.time }?.text,
      parts: unreached.map { ($0.words, $0.record) })
  }

  /// Of these rows none will be missed any more, whatever their kind.
  mutating func pass(_ rows: [[UInt8]]) {
    for row in rows {
      row.withUnsafeBytes { row in
        if let fields = try? ActionFields(row), let mark = Self.mark(fields) { advance(mark) }
      }
    }
  }

  mutating func note(snapshot: UnsafeRawBufferPointer) {
    var oldest: Mark?
    for row in Self.rows(ofSnapshot: snapshot) {
      guard let fields = try? ActionFields(row) else { continue }
      note(fields, source: .row)
      guard let mark = Self.mark(fields) else { continue }
      if oldest.map({ mark.time < $0.time }) ?? true { oldest = mark }
      advance(mark)
    }
    if !hasBaseline { floor = oldest }
    hasBaseline = true
  }

  private mutating func note(_ fields: ActionFields, source: ActionWindow.Source) {
    names.note(kind: fields.kind.string ?? "", guild: fields.guild.string ?? "")
    _ = printed.isNew(
      id: id(fields), key: ActionKey(fields, scratch: scratch), source: source)
    if source != .row, let mark = Self.mark(fields) { advance(mark) }
  }

  private func id(_ fields: ActionFields) -> ActionKey? {
    fields.id.rawText.map { ActionKey(text: scratch.text(of: $0)) }
  }

  private func keys(of row: ActionPages.Row) -> (id: ActionKey?, key: ActionKey) {
    row.bytes.withUnsafeBytes { bytes in
      let fields = (try? ActionFields(bytes)) ?? ActionFields()
      return (id(fields), ActionKey(fields, scratch: scratch))
    }
  }

  private mutating func advance(_ mark: Mark) {
    if newest.map({ $0.time < mark.time }) ?? true { newest = mark }
  }

  /// Whether an action was there before this follower was. Of the floor's own
  /// instant some may have come later, but not any more when a newer one was printed.
  private func isBefore(_ time: Timestamp) -> Bool {
    guard let floor else { return false }
    let isPast = newest.map { $0.time > floor.time } ?? false
    return time < floor.time || (isPast && time == floor.time)
  }

  private static func mark(_ fields: ActionFields) -> Mark? {
    guard let text = fields.createdAt.string, let time = Timestamp(rfc3339: text) else {
      return nil
    }
    return (time, text)
  }

  private static func rows(ofSnapshot data: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer] {
    let actions = try? ScanMembers.value(of: "actions", in: data)
    return actions?.elements.map(\.bytes) ?? []
  }
}
