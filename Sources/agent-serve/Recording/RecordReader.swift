import Core
import Dispatch
import Records

/// Finds the actions in records: bare or wrapped, in both spellings, as the
/// rows of a snapshot or backfill, or in an array of any of these; and the
/// documents, wrapped, or for a voice state also bare; and the facts.
struct RecordReader {
  enum Content: Sendable {
    case action(LoggedAction)
    case fact(StoredFact)
    /// A document that passed its check, and its bytes.
    case document(Document, [UInt8])
  }

  struct Item: Sendable {
    let content: Content
    var action: LoggedAction? {
      if case .action(let action) = content { action } else { nil }
    }
    let receivedAt: Timestamp?
    /// Whether it was a row of a snapshot or backfill, not an event of its own.
    let isListed: Bool
  }

  private let decoder: ActionDecoder
  private var window: ActionWindow?
  private let scratch = ScanScratch()

  init(now: Timestamp, isUnique: Bool) {
    decoder = ActionDecoder(now: now)
    window = isUnique ? ActionWindow() : nil
  }

  /// The actions of one record. Returns the actions, oldest first, or a document; empty for a
  /// record of another kind (stats, what sse-tail says of its connection) and for actions that were
  /// already given.
  mutating func read(_ line: UnsafeRawBufferPointer) throws(Failure) -> [Item] {
    if line.allSatisfy({ $0 == 0x20 || (9...13).contains($0) }) { return [] }
    if UTF8Text.isValid(line) { return try items(of: line) }
    // A bad byte costs no more than itself.
    return try UTF8Text.repaired(line).withUnsafeBufferPointer { bytes throws(Failure) in
      try items(of: UnsafeRawBufferPointer(bytes))
    }
  }

  private mutating func items(of line: UnsafeRawBufferPointer) throws(Failure) -> [Item] {
    try scanned { () throws(ScanFault) in try ScanValidator.validate(line) }
    if line.first(where: { $0 > 0x20 }) != UInt8(ascii: "[") { return try record(line) }
    var items: [Item] = []
    for (index, element) in (ScanObject.elements(line) ?? []).enumerated() {
      do throws(Failure) { items += try record(element.bytes) } catch {
        throw Failure("element \(index + 1): \(error.reason)")
      }
    }
    return items
  }

  private mutating func record(_ bytes: UnsafeRawBufferPointer) throws(Failure) -> [Item] {
    var record = RecordScan()
    let (shape, received) = try scanned { () throws(ScanFault) in
      (try record.read(bytes), try ScanMembers.value(of: "received_at", in: bytes))
    }
    let receivedAt = received.string.flatMap { Timestamp(rfc3339: $0) }
    func one(_ content: Content) -> [Item] {
      [Item(content: content, receivedAt: receivedAt, isListed: false)]
    }
    switch shape {
    case .own, .event, .stats, .voiceState:
      if let fact = try Self.fact(bytes, decoder.now) { return one(.fact(fact)) }
      guard let (document, body) = try Self.document(bytes) else { return [] }
      return one(.document(document, body))
    case .action, .unmarked:
      if record.fields.kind.isAbsent, let fact = try Self.fact(bytes, decoder.now) {
        return one(.fact(fact))
      }
      let action = try decoder.decode(record.object.bytes, record.fields)
      return isNew(record.fields, record.source, record.profile) ? one(.action(action)) : []
    case .list:
      var items: [Item] = []
      // Rows stand newest first.
      for row in (ScanObject.elements(record.rows.bytes) ?? []).reversed() {
        let fields = try scanned { () throws(ScanFault) in try ActionFields(row.bytes) }
        let action = try decoder.decode(row.bytes, fields)
        if isNew(fields, .row, record.profile) {
          items.append(Item(content: .action(action), receivedAt: receivedAt, isListed: true))
        }
      }
      return items
    }
  }

  /// The fact of a record: wrapped, or bare with a subject and no type.
  private static func fact(
    _ bytes: UnsafeRawBufferPointer, _ now: Timestamp
  ) throws(Failure) -> StoredFact? {
    guard let record = ScanObject(bytes), record["type"].isNull else { return nil }
    if record["event"].isString {
      guard record.text("event") == "fact" else { return nil }
      guard let fact = ScanObject(record["data"].bytes) else {
        throw Failure("fact: not an object")
      }
      return try StoredFact(fact, now: now)
    }
    guard record["subject"].isString, record["fact"].isString else { return nil }
    return try StoredFact(record, now: now)
  }

  private static func document(
    _ bytes: UnsafeRawBufferPointer
  ) throws(Failure) -> (Document, [UInt8])? {
    guard let record = ScanObject(bytes), record["type"].isNull else { return nil }
    let document: Document
    let body: UnsafeRawBufferPointer
    if let event = record["event"].isString ? record.text("event") : nil {
      guard let named = Document(rawValue: event) else { return nil }
      (document, body) = (named, record["data"].bytes)
    } else if !record["activeCount"].isAbsent && !record["sessions"].isAbsent {
      (document, body) = (.voiceState, bytes)
    } else {
      return nil
    }
    do throws(Failure) { return (document, try document.accept(Array(body))) } catch {
      throw Failure("\(document.rawValue): \(error.reason)")
    }
  }

  private mutating func isNew(
    _ fields: ActionFields, _ source: ActionWindow.Source, _ profile: ScanValue
  ) -> Bool { window?.isNew(fields, source, profile: profile, scratch) ?? true }
}

/// A file that makes readers wait (a pipe) does not hold up anything else.
final class RecordFile: @unchecked Sendable {
  private let queue = DispatchQueue(label: "agent-serve.records")
  // Touched on the queue alone.
  private var input: RecordInput
  private var records: RecordReader
  private var faults: FaultLog

  init(path: String, diagnostics: Diagnostics) throws(Failure) {
    input = try RecordInput(path: path)
    faults = FaultLog(diagnostics)
    records = RecordReader(now: .now(), isUnique: true)
  }

  /// The next actions and documents: those of one line, or of several up to
  /// `count`.
  ///
  /// Lines that are faulty are reported (see `FaultLog`) and passed over. Returns nil at the end of
  /// the file.
  func next(count: Int) async throws -> [RecordReader.Item]? {
    try await withCheckedThrowingContinuation { continuation in
      queue.async {
        continuation.resume(with: Result { try self.read(count: count) })
      }
    }
  }

  private func read(count: Int) throws -> [RecordReader.Item]? {
    var items: [RecordReader.Item] = []
    while items.count < count {
      guard let line = try input.next() else {
        faults.finish()
        return items.isEmpty ? nil : items
      }
      do throws(Failure) {
        items += try records.read(line.bytes)
      } catch {
        guard let torn = TornLine(line.bytes) else {
          faults.line(input.path, line.number, error.reason)
          continue
        }
        for record in torn.records {
          do throws(Failure) { items += try records.read(record) } catch {
            faults.line(input.path, line.number, error.reason)
          }
        }
        if let fault = torn.fault { faults.line(input.path, line.number, fault.reason) }
      }
    }
    return items
  }
}

extension ServedBackend {
  /// Plays a recording into the log as if its actions happened now, so many times faster than it
  /// was recorded; 0 for as fast as possible.
  ///
  /// The time between two records is that between their `received_at`, or
  /// between the actions' own times where a record has none. Each action gets the
  /// present as its time; the times in a voice state move by as much as the
  /// record's. The rows of a snapshot tell what was before the recording and are
  /// not played, except for those that a later snapshot or backfill has and no
  /// event told.
  func play(_ file: RecordFile, speed: Double) async throws -> Int {
    var pace = ReplayPace(speed: speed)
    var count = 0
    var hasEvents = false
    while let items = try await file.next(count: speed == 0 ? 500 : 1) {
      var now: [LoggedAction] = []
      for item in items {
        switch item.content {
        case .action(var action):
          if item.isListed && !hasEvents { continue }
          hasEvents = true
          try await wait(&pace, item.receivedAt ?? Timestamp(rfc3339: action.createdAt))
          action.createdAt = Timestamp.now().rfc3339
          now.append(action)
        case .fact(let fact):
          try await wait(&pace, item.receivedAt)
          _ = try await memory.store([fact])
        case .document(let document, var bytes):
          try await wait(&pace, item.receivedAt)
          if document == .voiceState, let received = item.receivedAt {
            bytes = TimeShift(from: received, to: .now()).moved(bytes)
          }
          // What happened before it comes before it.
          count += try await log.append(now).count
          now = []
          try await documents.put(document, bytes)
        }
      }
      count += try await log.append(now).count
    }
    return count
  }

  private func wait(_ pace: inout ReplayPace, _ recorded: Timestamp?) async throws {
    guard let due = pace.due(recorded, at: Clock.monotonic) else { return }
    let wait = due - Clock.monotonic
    if wait > 0 { try await Poller.sleep(for: .seconds(wait)) }
  }
}

/// Moves the times inside a JSON text, as the dashboard writes them
/// (`"2026-03-01T12:00:00.000Z"`), by the same amount.
struct TimeShift {
  private let by: Duration

  init(from: Timestamp, to: Timestamp) {
    by =
      .seconds(to.seconds - from.seconds) + .nanoseconds(to.nanoseconds - from.nanoseconds)
  }

  private static let pattern = Array("\"0000-00-00T00:00:00.000Z\"".utf8)

  /// The text with all its times moved; it keeps its length.
  func moved(_ text: [UInt8]) -> [UInt8] {
    var text = text
    let width = Self.pattern.count
    var index = 0
    while let quote = text[index...].firstIndex(of: 0x22), quote + width <= text.count {
      index = quote + 1
      guard Self.isTime(text[quote..<quote + width]) else { continue }
      let inner = quote + 1..<quote + width - 1
      guard let time = Timestamp(rfc3339: String(decoding: text[inner], as: UTF8.self)) else {
        continue
      }
      let moved = Array(time.adding(by).rfc3339.utf8)
      if moved.count == inner.count { text.replaceSubrange(inner, with: moved) }
      index = quote + width
    }
    return text
  }

  private static func isTime(_ bytes: ArraySlice<UInt8>) -> Bool {
    zip(bytes, pattern).allSatisfy { byte, model in
      model == UInt8(ascii: "0") ? byte &- 0x30 < 10 : byte == model
    }
  }
}
