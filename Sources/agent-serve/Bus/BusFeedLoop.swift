import CLibc
import Core
import Records

/// The loop of a `BusFeed`, in a thread of its own.
///
/// What was given to bus-put and not acknowledged when that ended may be on the bus or not, and
/// the stream forgets the ids by which it would know: so the loop looks before it sends again.
final class BusFeedLoop {
  private enum Stage {
    case resting(until: Double)
    case looking(BusChild, BusLook)
    case feeding(BusChild)
  }

  private struct Given {
    let row: Int64
    /// Where the newest acknowledged one stood then: this one is behind it.
    let behind: BusMark.Place?
  }

  private let target: BusFeed.Target
  private let store: ActionStore
  private let wake: Int32
  private var stage = Stage.resting(until: 0)
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
    _ diagnostics: Diagnostics
  ) {
    (self.target, self.store, self.mark, self.wake) = (target, store, mark, wake)
    words = BusWords(target, diagnostics)
    (kept, newest, cursor, isDoubtful) = (mark, mark.place, mark.row, !isNew)
    faults = FaultLog(diagnostics)
  }

  func run(until isStopping: () -> Bool) {
    while true {
      let now = Clock.monotonic
      if endsBy == nil, isStopping() { endsBy = now + Self.grace }
      if let endsBy, now >= endsBy { break }
      advance(now: now)
      if endsBy != nil, case .resting = stage { break }
      if now >= keepAt || unkept >= Self.mostUnkept && !isStuck { keep(now: now) }
      fill(now: now)
      wait(now: now)
    }
    switch stage {
    case .looking(let child, _), .feeding(let child): child.kill()
    case .resting: break
    }
    keep(now: Clock.monotonic)
    faults.finish()
  }

  private func advance(now: Double) {
    switch stage {
    case .resting(let until):
      if now >= until, endsBy == nil { begin(now: now) }
    case .looking(let child, var look):
      while let line = child.line() { look.receive(line) }
      stage = .looking(child, look)
      words.hear(child)
      if endsBy != nil {
        child.kill()
        rest(now: now)
      } else if child.hasEnded {
        looked(look, child.status, now: now)
      }
    case .feeding(let child):
      while let line = child.line() {
        guard took(line, now: now) else {
          child.kill()
          break
        }
      }
      words.hear(child)
      if child.hasEnded { rest(now: now) }
    }
  }

  private func rest(now: Double) {
    if !given.isEmpty || !there.isEmpty { isDoubtful = true }
    given = []
    cursor = mark.row
    there = []
    mayHaveMore = true
    words.end()
    stage = .resting(until: now + backoff.next(random: Double.random(in: 0..<1)))
  }

  private func begin(now: Double) {
    do throws(Failure) {
      if isDoubtful, hasRows {
        stage = .looking(try BusChild(lookWords), BusLook(mark))
      } else {
        try feed()
      }
    } catch {
      words.tell(error.message)
      rest(now: now)
    }
  }

  private func feed() throws(Failure) {
    var words = ["bus-put", "--bus=\(target.bus)", "--meta", "--confirm"]
    if let agent = target.agent { words.append("--prefix=\(agent)") }
    stage = .feeding(try BusChild(words))
    (line, isDoubtful, mayHaveMore) = (1, false, true)
  }

  private var lookWords: [String] {
    let start =
      mark.place.map { "--since-seq=\($0.sequence)" }
      ?? "--since=\(mark.madeAt.before(hours: 1.0 / 60).rfc3339)"
    let subject = target.agent.map { "\($0).actions.>" } ?? "actions.>"
    return ["bus-get", "--bus=\(target.bus)", "--meta", "--raw", "--end", start, subject]
  }

  private var hasRows: Bool {
    do {
      return try !store.actionsNow(after: mark.row, limit: 1, bytes: 1).isEmpty
    } catch {
      return true
    }
  }

  private func looked(_ look: BusLook, _ status: Int32?, now: Double) {
    switch status {
    case 0, 1:
      there = look.ids
      if !look.isWhole { words.tellLoss("the stream no longer holds what was sent last") }
    case 77: words.tellLoss("it does not let us look what is there")
    default:
      rest(now: now)
      return
    }
    do throws(Failure) { try feed() } catch {
      words.tell(error.message)
      rest(now: now)
    }
  }

  private func fill(now: Double) {
    guard case .feeding(let child) = stage else { return }
    while mayHaveMore, given.count <= Self.window / 2, child.waiting < Self.enough,
      unkept < Self.mostUnkept
    {
      do {
        let rows = try store.actionsNow(
          after: cursor, limit: Self.window - given.count, bytes: Self.enough)
        mayHaveMore = !rows.isEmpty
        for row in rows { give(row, to: child, now: now) }
      } catch {
        words.tell("the store: \(ErrorText.of(error))")
        child.kill()
        return
      }
    }
    if endsBy != nil, !mayHaveMore { child.finish() }
  }

  private func give(_ stored: StoredAction, to child: BusChild, now: Double) {
    cursor = stored.id
    var event = Array("{\"event\":\"action_event\",\"id\":\"\(stored.id)\",\"data\":".utf8)
    ActionEncoder.appendLive(stored, to: &event)
    event.append(UInt8(ascii: "}"))
    let id = mark.id(of: stored.id, event, agent: target.agent)
    if there.remove(id) != nil || there.remove(mark.oldID(of: stored.id)) != nil {
      if given.isEmpty { advanceMark(to: stored.id, now: now) }
      return
    }
    child.give(RecordText(.busMessage).string("id", id).json("data", bytes: event).line)
    given.append(Given(row: stored.id, behind: newest))
  }

  /// Takes what bus-put says of the oldest row that it was given. Returns false for what it cannot
  /// say.
  private func took(_ receipt: [UInt8], now: Double) -> Bool {
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
    advanceMark(to: given.isEmpty ? cursor : row, now: now)
    return true
  }

  private func advanceMark(to row: Int64, now: Double) {
    mark.row = row
    mark.place = given.first.map(\.behind) ?? newest
    unkept += 1
    if keepAt == .infinity { keepAt = now + Self.interval }
  }

  private func keep(now: Double) {
    guard mark != kept else {
      (keepAt, unkept) = (.infinity, 0)
      return
    }
    do {
      try store.keep(mark, target.bus)
      (kept, keepAt, unkept, isStuck) = (mark, .infinity, 0, false)
    } catch {
      if !isStuck { words.tell("the store: \(ErrorText.of(error))") }
      (keepAt, isStuck) = (now + 1, true)
    }
  }

  private func wait(now: Double) {
    var until = min(keepAt, endsBy ?? .infinity, now + 60)
    var entries = [pollfd(fd: wake, events: Int16(POLLIN), revents: 0)]
    var child: BusChild?
    switch stage {
    case .resting(let time): until = min(until, time)
    case .looking(let one, _), .feeding(let one): child = one
    }
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
