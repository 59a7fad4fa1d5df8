import Core

/// Knows which actions of an activity stream were printed, and finds what a
/// reconnect has missed (contract of the dashboard, section 2: no event ids,
/// a snapshot of the newest rows at each connection, newest first).
struct ActivityLedger {
  /// The most rows that one request returns (contract, section 3).
  static let mostRows = 1000

  /// A time of which actions may be missing.
  struct Gap: Equatable {
    /// The `created_at` of the newest action printed before it, nil if there was none.
    var after: String?
    /// The `created_at` of the oldest action known behind it.
    var before: String?
  }

  /// What a reconnect has missed.
  struct Missed: Equatable {
    /// The rows as they came, newest first.
    var rows: [[UInt8]] = []
    /// What even they do not reach.
    var gap: Gap?
  }

  private struct Mark {
    var time: Timestamp
    var text: String
  }

  private var printed = ActionWindow(capacity: 16 * 1024)
  private let scratch = ScanScratch()
  private var newest: Mark?
  /// Rows before this were never this follower's.
  private var floor: Mark?
  private var hasBaseline = false

  /// - Parameter resumingAt: the `created_at` of the newest action that an
  ///   earlier run printed.
  init(resumingAt text: String? = nil) {
    guard let text, let time = Timestamp(rfc3339: text) else { return }
    newest = Mark(time: time, text: text)
    floor = newest
    hasBaseline = true
  }

  /// The `created_at` of the newest action printed.
  var newestText: String? { newest?.text }

  /// Notes a live action as printed; what is no action is passed over.
  mutating func note(live data: UnsafeRawBufferPointer) {
    guard let fields = try? ActionFields(data) else { return }
    note(fields, source: .actionEvent)
  }

  /// Whether a new snapshot, which is not noted yet, reaches back to what was printed.
  mutating func isReached(by snapshot: UnsafeRawBufferPointer) -> Bool {
    guard hasBaseline else { return true }
    guard let newest else { return false }
    // Rows are ordered by time alone: only an older one proves that all later are there.
    return Self.rows(ofSnapshot: snapshot).contains { row in
      guard let fields = try? ActionFields(row), let mark = Self.mark(fields) else { return false }
      return mark.time < newest.time
    }
  }

  /// The rows that were not printed and do not stand in the new snapshot.
  ///
  /// The ledger counts what whoever reads the output can count, no more: of
  /// equal rows that were printed in part, all are missing, for the reader knows
  /// the printed ones by their key alone.
  ///
  /// - Parameters:
  ///   - answer: the body of `GET /api/actions`.
  ///   - snapshot: the data of the snapshot event.
  /// - Returns: nil when the answer is no array of rows.
  mutating func missed(in answer: UnsafeRawBufferPointer, snapshot: UnsafeRawBufferPointer)
    -> Missed?
  {
    guard let rows = Self.elements(answer) else { return nil }
    let snapshotRows = Self.rows(ofSnapshot: snapshot).compactMap { try? ActionFields($0) }
    let inSnapshot = Set(snapshotRows.compactMap { id($0) })
    let latest = snapshotRows.compactMap(Self.mark).map(\.time).max()
    var candidates: [(row: UnsafeRawBufferPointer, fields: ActionFields, key: ActionKey)] = []
    var counts: [ActionKey: Int] = [:]
    var reached = rows.count < Self.mostRows
    var oldest: Mark?
    for row in rows {
      guard let fields = try? ActionFields(row), let mark = Self.mark(fields) else { continue }
      if oldest.map({ mark.time < $0.time }) ?? true { oldest = mark }
      if let newest, mark.time < newest.time { reached = true }
      if let floor, mark.time < floor.time { continue }
      // What is newer than the snapshot comes live.
      if let latest, mark.time > latest { continue }
      let id = id(fields)
      if let id, printed.isKnown(id: id) {
        reached = true
        continue
      }
      let key = ActionKey(fields, scratch: scratch)
      counts[key, default: 0] += 1
      if id.map({ !inSnapshot.contains($0) }) ?? true { candidates.append((row, fields, key)) }
    }
    var missed = Missed()
    var owed: [ActionKey: Int] = [:]
    for key in counts.keys { owed[key] = printed.owed(key, to: .row) }
    for (row, fields, key) in candidates {
      if owed[key, default: 0] > 0 { reached = true }
      guard counts[key, default: 0] > owed[key, default: 0] else { continue }
      note(fields, source: .row)
      missed.rows.append(Array(row))
    }
    if !reached { missed.gap = Gap(after: newest?.text ?? floor?.text, before: oldest?.text) }
    return missed
  }

  /// The gap that stays when the rows cannot be had.
  func gap(before snapshot: UnsafeRawBufferPointer) -> Gap {
    let marks = Self.rows(ofSnapshot: snapshot).compactMap { row in
      (try? ActionFields(row)).flatMap(Self.mark)
    }
    return Gap(
      after: newest?.text ?? floor?.text, before: marks.min { $0.time < $1.time }?.text)
  }

  /// Notes a snapshot's rows as printed.
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
    _ = printed.isNew(
      id: id(fields), key: ActionKey(fields, scratch: scratch), source: source)
    if source == .actionEvent, let mark = Self.mark(fields) { advance(mark) }
  }

  private func id(_ fields: ActionFields) -> ActionKey? {
    fields.id.rawText.map { ActionKey(text: scratch.text(of: $0)) }
  }

  private mutating func advance(_ mark: Mark) {
    if newest.map({ $0.time < mark.time }) ?? true { newest = mark }
  }

  private static func mark(_ fields: ActionFields) -> Mark? {
    guard let text = fields.createdAt.string, let time = Timestamp(rfc3339: text) else {
      return nil
    }
    return Mark(time: time, text: text)
  }

  private static func rows(ofSnapshot data: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer] {
    guard let actions = try? ScanMembers.value(of: "actions", in: data), actions.isArray else {
      return []
    }
    return elements(actions.bytes) ?? []
  }

  private static func elements(_ array: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer]? {
    guard var elements = try? ScanElements(array) else { return nil }
    var found: [UnsafeRawBufferPointer] = []
    do throws(ScanFault) {
      while try elements.next() { found.append(elements.value.bytes) }
    } catch {
      return nil
    }
    return found
  }
}
