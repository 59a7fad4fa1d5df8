import CLibc
import Core
import Records

/// The loop of a `BusFeed`, in a thread of its own.
///
/// What was given to bus-put and not acknowledged when that ended may be on the bus or not, and
/// the stream forgets the ids by which it would know: so the loop looks before it sends again.
final class BusFeedLoop {
  private struct Given {
    let row: Int64
    /// Where the newest acknowledged one stood then: this one is behind it.
    let behind: BusMark.Place?
  }

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
  /// Given to bus-put, oldest first, and the line of the first of them.
  private var given: [Given] = []
  private var line = 1
  /// The last row that was given or need not be.
  private var cursor: Int64
  /// The message ids of rows behind `mark` that are there.
  private var there: Set<String> = []
  private var isDoubtful: Bool
  private var mayHaveMore = true
  private var endsBy: Double?
  private var words: BusWords
  private var faults: FaultLog

  private static let window = 256
  /// How many bytes wait for bus-put, before a last row.
  private static let enough = 1 << 20
  /// Rows that the store may not know of, and for how many seconds: a commit waits for the disk.
  private static let mostUnkept = 1024
  private static let interval = 0.5
  /// How long the end may take, seconds.
  private static let grace = 1.0

  init(
    _ target: BusFeed.Target, _ store: ActionStore, _ mark: BusMark, isNew: Bool, wake: Int32,
    _ diagnostics: Diagnostics, isStopping: @escaping () -> Bool
  ) {
    (self.target, self.store, self.mark, self.wake) = (target, store, mark, wake)
    self.isStopping = isStopping
    words = BusWords(target, diagnostics)
    (kept, newest, cursor, isDoubtful) = (mark, mark.place, mark.row, !isNew)
    faults = FaultLog(diagnostics)
  }

  func run() {
    while endsBy == nil {
      do throws(Failure) {
        let isKnown = try isDoubtful && hasRows ? look() : true
        if isKnown { try feed() }
      } catch {
        words.tell(error.message)
      }
      if !given.isEmpty || !there.isEmpty { isDoubtful = true }
      (given, there, cursor, mayHaveMore) = ([], [], mark.row, true)
      words.end()
      let pause = Clock.monotonic + backoff.next(random: Double.random(in: 0..<1))
      while endsBy == nil, Clock.monotonic < pause { wait(nil, until: pause) }
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
      while let line = child.line() { look.receive(line) }
      words.hear(child)
      if endsBy != nil {
        child.kill()
        return false
      }
    }
    switch child.status {
    case 0, 1:
      there = look.ids
      if !look.isWhole { words.tellLoss("the stream no longer holds what was sent last") }
    case 77: words.tellLoss("it does not let us look what is there")
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
      words.hear(child)
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
        words.tell("the store: \(errorText(error))")
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
    given.append(Given(row: stored.id, behind: newest))
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
      words.forget()
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
      if !isStuck { words.tell("the store: \(errorText(error))") }
      (keepAt, isStuck) = (Clock.monotonic + 1, true)
    }
  }

  /// Waits for a child, for news, or for a time.
  private func wait(_ child: BusChild?, until time: Double = .infinity) {
    let now = Clock.monotonic
    if endsBy == nil, isStopping() { endsBy = now + Self.grace }
    if now >= keepAt || unkept >= Self.mostUnkept && !isStuck { keep() }
    var until = min(time, keepAt, endsBy ?? .infinity, now + 60)
    var entries = [pollfd(fd: wake, events: Int16(POLLIN), revents: 0)]
    entries += child?.entries ?? []
    // Its output is over, and it ends in a moment.
    if let child, child.entries[1].fd < 0 { until = min(until, now + 0.02) }
    let seconds = max(until - Clock.monotonic, 0)
    _ = poll(&entries, nfds_t(entries.count), Int32((seconds * 1000).rounded(.up)))
    child?.pump(entries[1...])
    guard entries[0].revents != 0 else { return }
    var bytes = [UInt8](repeating: 0, count: 1024)
    _ = read(wake, &bytes, bytes.count)
    mayHaveMore = true
  }
}
