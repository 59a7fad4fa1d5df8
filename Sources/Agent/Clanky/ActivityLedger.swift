import Core
import Records

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
