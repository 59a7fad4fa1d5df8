import Bus
import CLibc
import Core
import Records

/// bus-put(1): records, a line each, to a stream on a bus.
public func busPutMain() {
  let options = PutOptions.table.parseOrExit(PutOptions())
  let diagnostics = Diagnostics(program: "bus-put", verbose: options.bus.isVerbose)
  do {
    let door = try BusAuth(options.bus, try Settings(diagnostics: diagnostics))
    EndSignals.watch()
    let loop = try PutLoop(options, door, diagnostics)
    // Libraries may have threads at work: nothing is left to be put in order.
    Process.exitAtOnce(try loop.run())
  } catch {
    diagnostics.failAtOnce(error)
  }
}

/// The loop of bus-put: reads no more than the window has room for, publishes, and takes what the
/// server says of it, until all is stored.
final class PutLoop {
  private let options: PutOptions
  private let diagnostics: Diagnostics
  private let stream: BusStream
  private var window: BusWindow
  private var labels: BusLabels
  private var input = InputLines()
  private var faults: FaultLog
  private var receipts: PutReceipts
  private var isReaderGone = false
  private var state: PutState?
  private var stored = 0
  /// The signal that ends all, and when it does at the latest.
  private var ending: (signal: Int32, by: Double)?
  private var saveAt = Double.infinity
  private var owed: Double?
  private var canRead = false
  /// Since when the stream takes nothing, and why; nil while it does.
  private var trouble: (since: Double, reason: String, isTold: Bool)?

  /// How long a signal waits for what is under way, seconds.
  private static let grace = 2.0
  /// Seconds that a stream may take nothing before that is told: new leaders are no news.
  private static let quiet = 2.0
  /// How much is read and handed to the library at once, bytes: it keeps that in one piece, and
  /// the server works at it while we read on.
  private static let batch = 64 << 10
  /// How much a record's line may be longer with `--meta`, bytes.
  private static let wrapping = 4 << 10

  init(
    _ options: PutOptions, _ door: BusAuth, _ diagnostics: Diagnostics
  ) throws(Failure) {
    (self.options, self.diagnostics) = (options, diagnostics)
    stream = BusStream(options.bus, door, plan: options.plan, diagnostics: diagnostics)
    window = BusWindow(records: options.window)
    labels = BusLabels(
      ids: options.ids, subject: options.subject, prefix: options.prefix,
      wantsMark: options.state != nil)
    faults = FaultLog(diagnostics)
    receipts = PutReceipts(areWanted: options.confirms)
    if let path = options.state { state = try PutState(path: path) }
  }

  func run() throws -> ExitStatus {
    while true {
      let now = Clock.monotonic
      do {
        if isReaderGone { throw WriteFailure(code: EPIPE) }
        switch try stream.turn(now: now, owed: owed) {
        case .lost:
          window.lose()
          trouble = nil
        case .ready: if window.isEmpty { stream.served() }
        case nil: break
        }
        try judge(now: now)
        if stream.isReady {
          receive(now: now)
          try readLines()
          try publish(now: now)
        }
        try receipts.write()
      } catch {
        if !(error is WriteFailure) { try? receipts.write() }
        saveAt = try state?.save(window.settled, now: now, force: true) ?? .infinity
        throw error
      }
      owed = window.isEmpty ? nil : owed
      saveAt = try state?.save(window.settled, now: now) ?? .infinity
      let hasAll = input.hasEnded && !input.hasMore
      if window.isEmpty, receipts.isEmpty, hasAll || ending != nil { break }
      if let ending, now >= ending.by { break }
      wait(now: now)
    }
    _ = try state?.save(window.settled, now: Clock.monotonic, force: true)
    faults.finish()
    if let ending { Process.die(by: ending.signal) }
    diagnostics.note("\(stored) records stored")
    return faults.hasFault ? .failure : .success
  }

  private func receive(now: Double) {
    while let arrival = stream.connection?.answer() {
      switch arrival {
      case .noResponders: fail(nil, "it has no leader now, or is for other subjects", now: now)
      case .message(let message):
        guard let token = Int(message.token) else { continue }
        owed = now
        stream.served()
        guard let fault = BusAnswer.fault(ofPublished: message, by: stream.name) else {
          if let line = window.store(token) {
            receipts.store(line, message)
            stored += 1
          }
          if let trouble, trouble.isTold {
            tell("stores again after \(Int((now - trouble.since).rounded())) s")
          }
          trouble = nil
          continue
        }
        if fault.mayPass {
          fail(token, fault.reason, now: now)
        } else if let item = window.refuse(token) {
          skip(item.line, fault.reason)
        }
      }
    }
  }

  private func fail(_ token: Int?, _ reason: String, now: Double) {
    window.fail(token, now: now)
    if trouble == nil { diagnostics.note("not stored yet: \(reason)") }
    trouble = (trouble?.since ?? now, reason, trouble?.isTold ?? false)
  }

  /// Says that the stream takes nothing, or gives up when that lasts too long.
  private func judge(now: Double) throws(Failure) {
    guard let trouble else { return }
    if let most = options.bus.maxWait, now >= trouble.since + most {
      throw Failure("stream \(stream.name)", trouble.reason, .temporary)
    }
    guard !trouble.isTold, now >= trouble.since + Self.quiet else { return }
    self.trouble?.isTold = true
    tell("\(trouble.reason); waiting")
  }

  private func tell(_ words: String) {
    if !options.bus.isQuiet { diagnostics.error("stream \(stream.name)", words) }
  }

  private func skip(_ line: Int, _ reason: String) {
    faults.line("-", line, reason)
    receipts.refuse(line, reason)
  }

  private var hasRoom: Bool { window.hasRoom && receipts.hasRoom }

  private func readLines() throws {
    guard ending == nil, let largest = stream.connection?.largest else { return }
    let longest = largest + (options.isWrapped ? Self.wrapping : 0)
    if canRead, hasRoom, !input.hasEnded {
      try input.read()
      canRead = false
    }
    var bytes = 0
    while hasRoom, bytes < Self.batch {
      switch input.next(longest: longest) {
      case .nothing: return
      case .tooLong(let bytes, let number):
        receipts.expect(number)
        skip(number, Self.tooLarge(bytes, largest))
      case .line(let line, let number):
        if line.allSatisfy({ $0 == 0x20 || $0 == 9 || $0 == 13 }) { continue }
        receipts.expect(number)
        do throws(Failure) {
          window.add(try item(line, number))
          bytes += line.count
        } catch {
          skip(number, error.reason)
        }
      }
    }
  }

  private func item(
    _ line: UnsafeRawBufferPointer, _ number: Int
  ) throws(Failure) -> BusWindow.Item {
    guard options.isWrapped else {
      return BusWindow.Item(try labels.label(line), bytes: Array(line), line: number)
    }
    let envelope = try BusEnvelope(line)
    let label = try labels.label(envelope.data, subject: envelope.subject, id: envelope.id)
    return BusWindow.Item(label, bytes: Array(envelope.data), line: number)
  }

  private func publish(now: Double) throws(Failure) {
    guard let connection = stream.connection, connection.isFlushed else { return }
    let longest = connection.largest
    var bytes = 0
    while bytes < Self.batch, let (token, item) = window.next(now: now) {
      // Another server may take less than the one before.
      guard item.bytes.count <= longest else {
        skip(item.line, Self.tooLarge(item.bytes.count, longest))
        _ = window.refuse(token)
        continue
      }
      if options.confirms, let since = window.doubtedSince(token),
        now - since > stream.idWindow / 2
      {
        let seconds = Int((now - since).rounded())
        throw Failure(
          "stream \(stream.name)",
          "what was sent \(seconds) s ago may be stored: look before it is sent again", .temporary)
      }
      if owed == nil { owed = now }
      let isTaken = item.bytes.withUnsafeBytes {
        connection.publish(
          item.label.subject, answerTo: String(token), $0, id: item.label.id)
      }
      // The link is lost, and the window told in the next turn.
      guard isTaken else { break }
      bytes += item.bytes.count
    }
    connection.flush()
  }

  private static func tooLarge(_ bytes: Int, _ longest: Int) -> String {
    "a record of \(bytes) bytes is larger than the server takes (\(longest))"
  }

  private func wait(now: Double) {
    let isFlushed = stream.connection?.isFlushed ?? true
    // What was read goes first; what cannot go waits for room.
    if stream.isReady, ending == nil, hasRoom, input.hasMore, isFlushed { return }
    let reads = stream.isReady && hasRoom && !input.hasEnded && ending == nil
    var entries = [
      pollfd(fd: EndSignals.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: reads ? 0 : -1, events: Int16(POLLIN), revents: 0),
      receipts.entry,
    ]
    var until = min(stream.due(now: now), saveAt, ending?.by ?? .infinity)
    // A server that takes nothing is not asked what is due.
    if stream.isReady, isFlushed { until = min(until, window.due) }
    if let trouble {
      if !trouble.isTold { until = min(until, trouble.since + Self.quiet) }
      if let most = options.bus.maxWait { until = min(until, trouble.since + most) }
    }
    stream.link.wait(for: &entries, until: until)
    canRead = entries[1].revents != 0
    isReaderGone = entries[2].revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
    if let signal = EndSignals.next() {
      // A second one does not wait.
      ending = (signal, Clock.monotonic + (ending == nil && !window.isEmpty ? Self.grace : 0))
    }
  }
}

/// The lines of standard input, of which none is held that is longer than the server takes.
///
/// It reads only when it is told to, so that whoever writes waits while nothing can be sent.
struct InputLines: ~Copyable {
  enum Found {
    /// A line without its line feed, valid until the next call.
    case line(UnsafeRawBufferPointer, number: Int)
    case tooLong(bytes: Int, number: Int)
    case nothing
  }

  private var buffer = ByteQueue(keeps: 512 << 10)
  private var skipped = 0
  private var number = 0
  /// How many bytes of the line at the front are known to hold no line feed.
  private var looked = 0
  private var given = 0
  private(set) var hasEnded = false

  private static let step = 256 << 10

  mutating func read() throws(Failure) {
    drop()
    let room = buffer.room(Self.step)
    let count = CLibc.read(0, room.baseAddress, room.count)
    if count < 0 {
      if systemError == EINTR || systemError == EAGAIN { return }
      throw Failure(code: systemError, place: "standard input")
    }
    if count == 0 { hasEnded = true }
    buffer.put(max(count, 0))
    if number == 0, skipped == 0, let reason = ForeignText.reason(of: buffer.bytes) {
      throw Failure(reason, place: "standard input")
    }
  }

  /// The next line of what was read; the last one needs no line feed.
  mutating func next(longest: Int) -> Found {
    drop()
    let bytes = buffer.bytes
    let rest = UnsafeRawBufferPointer(rebasing: bytes[looked...])
    guard let start = rest.baseAddress, let feed = memchr(start, 10, rest.count) else {
      looked = bytes.count
      return unfinished(longest: longest)
    }
    let length = UnsafeRawPointer(feed) - bytes.baseAddress!
    (given, looked) = (length + 1, 0)
    return finish(length, longest)
  }

  private mutating func unfinished(longest: Int) -> Found {
    let count = buffer.count
    if hasEnded {
      guard count > 0 || skipped > 0 else { return .nothing }
      (given, looked) = (count, 0)
      return finish(count, longest)
    }
    if count > longest || skipped > 0 {
      skipped += count
      buffer.drop(count)
      looked = 0
    }
    return .nothing
  }

  private mutating func finish(_ length: Int, _ longest: Int) -> Found {
    number += 1
    let total = skipped + length
    skipped = 0
    if total > longest { return .tooLong(bytes: total, number: number) }
    let line = UnsafeRawBufferPointer(rebasing: buffer.bytes[..<length])
    let hasMark = number == 1 && line.starts(with: [0xef, 0xbb, 0xbf])
    return .line(hasMark ? UnsafeRawBufferPointer(rebasing: line[3...]) : line, number: number)
  }

  private mutating func drop() {
    buffer.drop(given)
    given = 0
  }

  var hasMore: Bool { buffer.count > max(given, looked) || hasEnded && buffer.count > given }
}

/// What `--confirm` prints: a record for each line of input, in the order of the lines.
///
/// Standard output is never waited for: a reader that stands still must not keep us from the
/// server's questions.
struct PutReceipts: ~Copyable {
  let areWanted: Bool
  /// The lines that were not printed yet, from `head` on.
  private var lines: [(number: Int, receipt: [UInt8]?)] = []
  private var head = 0
  private var output = ByteQueue()
  private let isFile = FileIdentity(descriptor: 1) != nil

  /// So much is unwritten, bytes, or so many lines wait for one before them, and no more input is
  /// read.
  private static let mostBytes = 64 << 10
  private static let mostLines = 4096

  init(areWanted: Bool) { self.areWanted = areWanted }

  var isEmpty: Bool { output.isEmpty && head == lines.count }

  var hasRoom: Bool { output.count < Self.mostBytes && lines.count - head < Self.mostLines }

  /// What poll(2) is to look for; with nothing to write it tells when the reader goes.
  var entry: pollfd {
    pollfd(fd: areWanted ? 1 : -1, events: output.isEmpty ? 0 : Int16(POLLOUT), revents: 0)
  }

  mutating func expect(_ line: Int) {
    if areWanted { lines.append((line, nil)) }
  }

  mutating func store(_ line: Int, _ message: BusMessage) {
    guard areWanted else { return }
    let place = BusAnswer.place(ofPublished: message)
    settle(
      line,
      RecordText(.busAck).number("line", line).string("stream", place?.stream)
        .number("seq", place?.sequence).bool("duplicate", place?.isDuplicate ?? false))
  }

  mutating func refuse(_ line: Int, _ reason: String) {
    if areWanted {
      settle(line, RecordText(.busAck).number("line", line).string("reason", reason))
    }
  }

  private mutating func settle(_ line: Int, _ record: RecordText) {
    var (low, high) = (head, lines.count)
    while low < high {
      let middle = (low + high) / 2
      if lines[middle].number < line { low = middle + 1 } else { high = middle }
    }
    guard low < lines.count, lines[low].number == line else { return }
    lines[low].receipt = record.line
    while head < lines.count, let receipt = lines[head].receipt {
      output.append(receipt)
      lines[head].receipt = nil
      head += 1
    }
    if head > 1024, head * 2 > lines.count {
      lines.removeFirst(head)
      head = 0
    }
  }

  mutating func write() throws(WriteFailure) {
    _ = try output.write(to: 1, isFile: isFile, atMost: output.count)
  }
}
