import CCrypto
import CLibc
import Core
import Records

/// Publishes the actions of a store to a bus, each once, whatever is killed meanwhile.
///
/// A thread of its own feeds bus-put from the store, in the order of the ids, and keeps how far
/// the server has acknowledged them. Serving never waits for it.
final class BusFeed: Sendable {
  /// Which bus: a section of the configuration, and the name in front of all subjects.
  struct Target: Equatable, Sendable {
    let bus: String
    let agent: String?
  }

  private let wakeEnds: (read: Int32, write: Int32)
  private let isStopping = Guarded(false)
  private let over: AsyncStream<Void>
  private let loop: @Sendable () -> Void

  init(_ target: Target, _ store: ActionStore, _ diagnostics: Diagnostics) async throws {
    let (mark, isNew) = try await store.busMark(target.bus)
    var ends: [Int32] = [-1, -1]
    // Whoever wakes does not wait: a full pipe wakes as well.
    guard clibc_pipe(&ends, 1) == 0 else { throw Failure("bus", systemReason(systemError)) }
    let wakeEnds = (read: ends[0], write: ends[1])
    self.wakeEnds = wakeEnds
    let (over, continuation) = AsyncStream.makeStream(of: Void.self)
    self.over = over
    loop = { [isStopping] in
      BusFeedLoop(target, store, mark, isNew: isNew, wake: wakeEnds.read, diagnostics) {
        isStopping.withLock { $0 }
      }.run()
      continuation.finish()
    }
  }

  deinit { for end in [wakeEnds.read, wakeEnds.write] { close(end) } }

  func start() { OwnThread.require(loop) }

  func wake() { _ = write(wakeEnds.write, "w", 1) }

  /// Ends it, when what is under way was acknowledged, a second later at most.
  func stop() async {
    isStopping.withLock { $0 = true }
    wake()
    for await _ in over {}
  }
}

/// The loop of a `BusFeed`, in a thread of its own.
///
/// What was given to bus-put and not acknowledged when that ended may be on the bus or not, and
/// the stream forgets the ids by which it would know: so the loop looks before it sends again.
final class BusFeedLoop {
  private let target: BusFeed.Target
  private let store: ActionStore
  private let wake: Int32
  private let isStopping: () -> Bool
  private var backoff = Backoff(base: 0.1, factor: 2, cap: 5, jitter: 0.3)
  private var mark: BusMark
  private var kept: BusMark
  private var newest: BusMark.Place?
  /// Since when `kept` is behind, and by how many rows.
  private var keepAt = Double.infinity
  private var unkept = 0
  private var isStuck = false
  /// Given to bus-put, oldest first, each with where the newest acknowledged one stood then: it is
  /// behind that. And the line of the first of them.
  private var given: [(row: Int64, behind: BusMark.Place?)] = []
  private var line = 1
  /// The last row that was given or need not be.
  private var cursor: Int64
  /// The message ids of rows behind `mark` that are there.
  private var there: Set<String> = []
  private var isDoubtful: Bool
  private var mayHaveMore = true
  private var endsBy: Double?
  private var faults: FaultLog
  private let diagnostics: Diagnostics
  /// What was said since something began, and before that since the last acknowledgement. A program
  /// that ends again and again says the same again and again, and is heard once.
  private var (said, saidBefore): (Set<String>, Set<String>) = ([], [])
  private var hasToldLoss = false

  private static let window = 256
  /// How many bytes wait for bus-put, before a last row.
  private static let enough = 1 << 20
  /// Rows that the store may not know of, and for how many seconds: a commit waits for the disk.
  private static let mostUnkept = 1024
  private static let interval = 0.5
  /// How long the end may take, seconds.
  private static let grace = 1.0
  private static let mostWords = 64

  init(
    _ target: BusFeed.Target, _ store: ActionStore, _ mark: BusMark, isNew: Bool, wake: Int32,
    _ diagnostics: Diagnostics, isStopping: @escaping () -> Bool
  ) {
    (self.target, self.store, self.mark, self.wake) = (target, store, mark, wake)
    self.isStopping = isStopping
    self.diagnostics = diagnostics
    (kept, newest, cursor, isDoubtful) = (mark, mark.place, mark.row, !isNew)
    faults = FaultLog(diagnostics)
  }

  func run() {
    while endsBy == nil {
      do throws(Failure) {
        let isKnown = try isDoubtful && hasRows ? look() : true
        if isKnown { try feed() }
      } catch {
        tell(error.message)
      }
      if !given.isEmpty || !there.isEmpty { isDoubtful = true }
      (given, there, cursor, mayHaveMore) = ([], [], mark.row, true)
      saidBefore.formUnion(said)
      said = []
      let pause = Clock.monotonic + backoff.next(random: Double.random(in: 0..<1))
      while endsBy == nil, Clock.monotonic < pause {
        wait(nil, until: pause)
        keepIfDue()
      }
    }
    keep()
    faults.finish()
  }

  /// Finds out what is there. Returns whether that is known.
  private func look() throws(Failure) -> Bool {
    let child = try BusChild(lookWords)
    var look = BusLook(mark)
    while !child.hasEnded {
      wait(child)
      keepIfDue()
      while let line = child.line() { look.receive(line) }
      hear(child)
      if endsBy != nil {
        child.kill()
        return false
      }
    }
    switch child.status {
    case 0, 1:
      there = look.ids
      if !look.isWhole { tellLoss("the stream no longer holds what was sent last") }
    case 77: tellLoss("it does not let us look what is there")
    default: return false
    }
    return true
  }

  /// Publishes what is stored, until bus-put ends or we do.
  private func feed() throws(Failure) {
    var command = ["bus-put", "--bus=\(target.bus)", "--meta", "--confirm"]
    if let agent = target.agent { command.append("--prefix=\(agent)") }
    let child = try BusChild(command)
    (line, isDoubtful, mayHaveMore) = (1, false, true)
    while !child.hasEnded {
      fill(child)
      wait(child)
      while let line = child.line() {
        guard took(line) else {
          child.kill()
          break
        }
      }
      hear(child)
      // Before more is given: with too much of it not kept nothing is.
      keepIfDue()
      if let endsBy, Clock.monotonic >= endsBy { return child.kill() }
    }
  }

  private var lookWords: [String] {
    let start =
      mark.place.map { "--since-seq=\($0.sequence)" }
      ?? "--since=\(mark.madeAt.before(hours: 1.0 / 60).rfc3339)"
    let subject = target.agent.map { "\($0).actions.>" } ?? "actions.>"
    return ["bus-get", "--bus=\(target.bus)", "--meta", "--raw", "--end", start, subject]
  }

  private var hasRows: Bool {
    (try? store.actionsNow(after: mark.row, limit: 1, bytes: 1).isEmpty) != true
  }

  private func fill(_ child: BusChild) {
    while mayHaveMore, given.count <= Self.window / 2, child.waiting < Self.enough,
      unkept < Self.mostUnkept
    {
      do {
        let rows = try store.actionsNow(
          after: cursor, limit: Self.window - given.count, bytes: Self.enough)
        mayHaveMore = !rows.isEmpty
        for row in rows { give(row, to: child) }
      } catch {
        tell("the store: \(errorText(error))")
        child.kill()
        return
      }
    }
    if endsBy != nil, !mayHaveMore { child.finish() }
  }

  private func give(_ stored: StoredAction, to child: BusChild) {
    cursor = stored.id
    var event = Array("{\"event\":\"action_event\",\"id\":\"\(stored.id)\",\"data\":".utf8)
    ActionEncoder.appendLive(stored, to: &event)
    event.append(UInt8(ascii: "}"))
    let id = mark.id(of: stored.id, event, agent: target.agent)
    if there.remove(id) != nil || there.remove(mark.oldID(of: stored.id)) != nil {
      if given.isEmpty { advanceMark(to: stored.id) }
      return
    }
    child.give(RecordText(.busMessage).string("id", id).json("data", bytes: event).line)
    given.append((stored.id, newest))
  }

  /// Takes what bus-put says of the oldest row that it was given. Returns false for what it cannot
  /// say.
  private func took(_ receipt: [UInt8]) -> Bool {
    guard let value = receipt.withUnsafeBytes({ try? JSONValue.parse($0) }),
      value["line"]?.integer == Int64(line), !given.isEmpty
    else { return false }
    let row = given.removeFirst().row
    line += 1
    if let stream = value["stream"]?.string, let sequence = value["seq"]?.integer {
      let isLater = newest.map { $0.stream != stream || $0.sequence < sequence } ?? true
      if isLater { newest = .init(stream: stream, sequence: sequence) }
      backoff.reset()
      saidBefore = []
    } else {
      faults.event("action \(row)", "not published: \(value["reason"]?.string ?? "no reason")")
    }
    // The rows between were there.
    advanceMark(to: given.isEmpty ? cursor : row)
    return true
  }

  private func advanceMark(to row: Int64) {
    mark.row = row
    mark.place = given.first.map(\.behind) ?? newest
    unkept += 1
    if keepAt == .infinity { keepAt = Clock.monotonic + Self.interval }
  }

  private func keep() {
    guard mark != kept else {
      (keepAt, unkept) = (.infinity, 0)
      return
    }
    do {
      try store.keep(mark, target.bus)
      (kept, keepAt, unkept, isStuck) = (mark, .infinity, 0, false)
    } catch {
      if !isStuck { tell("the store: \(errorText(error))") }
      (keepAt, isStuck) = (Clock.monotonic + 1, true)
    }
  }

  private func keepIfDue() {
    if Clock.monotonic >= keepAt || unkept >= Self.mostUnkept && !isStuck { keep() }
  }

  private func tell(_ words: String) {
    if saidBefore.count > Self.mostWords { saidBefore = [] }
    if said.count > Self.mostWords { said = [] }
    if saidBefore.contains(words) { return }
    said.insert(words)
    diagnostics.say(words)
  }

  /// Passes on what a program says, but for the lines of its input, which nobody knows.
  private func hear(_ child: BusChild) {
    while let words = child.words() {
      if !words.hasPrefix("bus-put: standard input:") { tell(words) }
    }
  }

  /// Says that it is not known what is on the bus; once.
  private func tellLoss(_ reason: String) {
    if hasToldLoss { return }
    hasToldLoss = true
    diagnostics.error(
      "bus \(target.bus)", "\(reason): what was under way is sent again, and may be there twice")
  }

  /// Waits for a child, for news, which may be that all ends, or for a time.
  private func wait(_ child: BusChild?, until time: Double = .infinity) {
    let now = Clock.monotonic
    var until = min(time, keepAt, endsBy ?? .infinity, now + 60)
    var entries = [pollfd(fd: wake, events: Int16(POLLIN), revents: 0)]
    entries += child?.entries ?? []
    // Its output is over, and it ends in a moment.
    if let child, child.entries[1].fd < 0 { until = min(until, now + 0.02) }
    let seconds = max(until - Clock.monotonic, 0)
    _ = poll(&entries, nfds_t(entries.count), Int32((seconds * 1000).rounded(.up)))
    child?.pump(entries[1...])
    if endsBy == nil, isStopping() { endsBy = Clock.monotonic + Self.grace }
    guard entries[0].revents != 0 else { return }
    var bytes = [UInt8](repeating: 0, count: 1024)
    _ = read(wake, &bytes, bytes.count)
    mayHaveMore = true
  }
}

struct BusLook {
  private(set) var ids: Set<String> = []
  /// Whether all is there to be seen that may have come since; known at the end.
  private(set) var isWhole: Bool
  private let prefix: String
  private let place: BusMark.Place?
  private var isFirst = true

  private static let most = 8192

  init(_ mark: BusMark) {
    (prefix, place) = (mark.store + "-", mark.place)
    isWhole = mark.place == nil
  }

  mutating func receive(_ line: [UInt8]) {
    var (stream, sequence, id): (String?, Int64?, String?)
    line.withUnsafeBytes { bytes in
      let members = ScanObject(bytes) ?? ScanObject()
      (stream, id) = (members["stream"].string, members["id"].string)
      sequence = members["seq"].string.flatMap { Int64($0) }
    }
    if isFirst, let place { isWhole = stream == place.stream && sequence == place.sequence }
    isFirst = false
    if let id, id.hasPrefix(prefix), ids.count < Self.most { ids.insert(id) }
  }
}

/// How far the actions of a store are on a bus. The row of an action is what has to be published;
/// nothing else is kept for it.
struct BusMark: Equatable, Sendable {
  struct Place: Equatable, Sendable {
    let stream: String
    let sequence: Int64
  }

  /// The store's own name on this bus, with which the message ids of its actions begin.
  let store: String
  let madeAt: Timestamp
  /// All actions up to this one are there; 0 for none.
  var row: Int64
  /// Where all later ones are behind; nil where nobody knows.
  var place: Place?

  /// The message id of an action. The store's name and the row are not enough: a copy of a store
  /// has the same name, and one that is put back gives its rows once more, to other actions.
  func id(of row: Int64, _ event: [UInt8], agent: String?) -> String {
    var digest = [UInt8](repeating: 0, count: 32)
    let whole = Array((agent ?? "").utf8) + [0] + event
    _ = SHA256(whole, whole.count, &digest)
    return "\(oldID(of: row))-\(Base64.url(Array(digest.prefix(9))))"
  }

  /// The same, as earlier versions made it.
  func oldID(of row: Int64) -> String { "\(store)-\(row)" }
}

extension ActionStore {
  @Sendable static func createBus(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE bus_marks (
          bus TEXT PRIMARY KEY,
          store TEXT NOT NULL,
          made_at TEXT NOT NULL,
          row INTEGER NOT NULL,
          stream TEXT,
          sequence INTEGER
        )
        """)
  }

  /// How far the actions are on a bus; one that was never named begins with what is stored from
  /// now on. Returns whether it was never named, too.
  func busMark(_ bus: String) async throws -> (mark: BusMark, isNew: Bool) {
    try await write { db in
      let now = Timestamp.now()
      try db.execute(
        sql: """
          INSERT OR IGNORE INTO bus_marks (bus, store, made_at, row)
          VALUES (?, ?, ?, ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'actions'), 0))
          """, arguments: [bus, Base64.random(bytes: 12), now.rfc3339])
      let isNew = db.changesCount > 0
      let row = try db.rows(
        sql: "SELECT store, made_at, row, stream, sequence FROM bus_marks WHERE bus = ?",
        arguments: [bus]
      ).next()!
      let (stream, sequence): (String?, Int64?) = (row[3], row[4])
      var mark = BusMark(store: row[0], madeAt: Timestamp(rfc3339: row[1]) ?? now, row: row[2])
      if let stream, let sequence { mark.place = .init(stream: stream, sequence: sequence) }
      return (mark, isNew)
    }
  }

  func keep(_ mark: BusMark, _ bus: String) throws {
    try writeNow { db in
      try db.execute(
        sql: "UPDATE bus_marks SET row = ?, stream = ?, sequence = ? WHERE bus = ?",
        arguments: [mark.row, mark.place?.stream, mark.place?.sequence, bus])
    }
  }
}

/// bus-put or bus-get at work for us: its lines, and what it says. Nothing here waits.
final class BusChild {
  private let process: ChildProcess
  private var input = ByteQueue()
  private var output = BusLines()
  private var errors = BusLines()
  private var isOutputOpen = true
  private var isErrorOpen = true

  /// How much is read at a time, bytes.
  private static let piece = 64 << 10
  /// The longest line of standard error, bytes.
  private static let longestWords = 2000

  init(_ words: [String]) throws(Failure) {
    // It ends with us, and not by the signals of our terminal: what is under way is told first.
    process = try ChildProcess(
      words, input: .pipe, output: .pipe, error: .pipe, leadsGroup: true)
  }

  var entries: [pollfd] {
    [
      pollfd(
        fd: input.isEmpty ? -1 : process.input, events: Int16(POLLOUT), revents: 0),
      pollfd(fd: isOutputOpen ? process.output : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: isErrorOpen ? process.error : -1, events: Int16(POLLIN), revents: 0),
    ]
  }

  var waiting: Int { input.count }

  var hasEnded: Bool { !isOutputOpen && process.hasEnded }

  /// The status with which it ended; nil for a signal. Only when it has ended.
  var status: Int32? {
    _ = process.waitForEnd()
    return process.exitStatus
  }

  func give(_ line: [UInt8]) { input.append(line) }

  func finish() {
    if input.isEmpty { process.closeInput() }
  }

  func pump(_ entries: ArraySlice<pollfd>) {
    let revents = entries.map(\.revents)
    if revents[0] != 0 {
      let sent = write(process.input, input.bytes.baseAddress, min(input.count, Self.piece))
      if sent > 0 { input.drop(sent) }
      if sent < 0, systemError != EAGAIN, systemError != EINTR {
        process.closeInput()
        input.removeAll()
      }
    }
    if revents[1] != 0 { isOutputOpen = output.read(process.output, Self.piece) }
    if revents[2] != 0 { isErrorOpen = errors.read(process.error, Self.piece) }
  }

  func line() -> [UInt8]? { output.next() }

  func words() -> String? {
    errors.next().map { String(decoding: $0.prefix(Self.longestWords), as: UTF8.self) }
  }

  func kill() { process.kill(SIGKILL) }
}

private struct BusLines: ~Copyable {
  private var bytes = ByteQueue()
  /// So many of them are known to hold no line feed.
  private var looked = 0

  /// Reads once. Returns whether there may be more.
  mutating func read(_ descriptor: Int32, _ most: Int) -> Bool {
    let room = bytes.room(most)
    let count = CLibc.read(descriptor, room.baseAddress, room.count)
    bytes.put(max(count, 0))
    return count > 0 || count < 0 && (systemError == EAGAIN || systemError == EINTR)
  }

  mutating func next() -> [UInt8]? {
    let rest = bytes.bytes.dropFirst(looked)
    guard let feed = rest.firstIndex(of: 10) else {
      looked = bytes.count
      return nil
    }
    let line = bytes.prefix(feed)
    bytes.drop(feed + 1)
    looked = 0
    return line
  }
}
