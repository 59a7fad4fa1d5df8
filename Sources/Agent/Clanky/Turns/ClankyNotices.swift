import Core
public import Records

/// What the actions of a dashboard tell that a person may want to know (CONTRACT.md 3.3):
/// faults and warnings, and whatever else somebody asks for.
public struct ClankyNotices {
  /// The urgency of actions that tell of no fault; nil when they are no notifications.
  private let others: NotificationRecord.Urgency?
  private let scratch = ScanScratch()
  private var equals = EqualActions()
  private var lineScan = RecordScan()
  private var rowScan = RecordScan()

  /// - Parameter others: the urgency of actions that tell of no fault.
  public init(others: NotificationRecord.Urgency? = nil) { self.others = others }

  /// Reads a line with an action or a list of them.
  ///
  /// - Parameters:
  ///   - line: one record, bare or wrapped.
  ///   - receive: told each notification, oldest first, and whether it was read from a list or
  ///     a row, and may be old.
  /// - Returns: false when the line has no actions.
  public mutating func read(
    _ line: TurnLine, _ receive: (NotificationRecord, _ isPast: Bool) -> Void
  ) -> Bool {
    let origin = line.origin(.clanky)
    switch line.shape {
    case .action:
      guard (try? lineScan.read(line.bytes)) == .action else { return false }
      let isPast = !lineScan.isWrapped && lineScan.source == .row
      if let notice = notice(lineScan.fields, lineScan.source, origin) { receive(notice, isPast) }
    case .list:
      guard (try? lineScan.read(line.bytes)) == .list, lineScan.rows.isArray else { return false }
      var found: [NotificationRecord] = []
      for row in lineScan.rows.elements where (try? rowScan.read(row.bytes)) == .action {
        if let notice = notice(rowScan.fields, .row, origin) { found.append(notice) }
      }
      // Servers send the newest first.
      for notice in found.reversed() { receive(notice, true) }
    default: return false
    }
    return true
  }

  private mutating func notice(
    _ fields: ActionFields, _ source: ActionWindow.Source, _ origin: RecordOrigin
  ) -> NotificationRecord? {
    guard let kind = fields.kind.string, !kind.isEmpty, !fields.createdAt.isNull else {
      return nil
    }
    let fault = Self.urgency(kind, level: fields.level.string)
    guard let urgency = fault ?? others else { return nil }
    // The same for a live action and its row.
    let key = ActionKey(fields, scratch: scratch)
    let name = [key.high, key.low].flatMap { withUnsafeBytes(of: $0.bigEndian, Array.init) }.hex
    let number = equals.number(of: name, id: fields.id.storedText, source, origin.profile)
    var record = NotificationRecord(
      origin, id: name + (number > 1 ? "-\(number)" : ""),
      urgency: urgency,
      category: fault == nil ? ActionKind.domain(of: kind).rawValue : "system", title: kind,
      time: fields.createdAt.string.flatMap { Timestamp(rfc3339: $0) })
    record.text = fields.content.storedText
    record.about = fields.id.storedText.map { .init(type: "action", id: $0) }
    record.thread = fields.channel.storedText
    return record
  }

  private static func urgency(_ kind: String, level: String?) -> NotificationRecord.Urgency? {
    switch kind {
    case "bot_error": .urgent
    case "bot_warning": .attention
    default: ActionKind.isError(kind: kind, level: level) ? .attention : nil
    }
  }
}

/// Numbers equal actions of one millisecond, which are several: each source counts its own, so
/// that a live action and its row have the same number (Agent/Clanky/CONTRACT.md 3.2).
struct EqualActions {
  private var counts = TwoAges<SIMD4<UInt32>>()
  private var numbers = TwoAges<UInt32>()

  /// `key`: what makes actions equal, as text.
  mutating func number(
    of key: String, id: String?, _ source: ActionWindow.Source, _ profile: String?
  ) -> UInt32 {
    let key = "\(profile ?? "")\n\(key)"
    let id = id.map { "\(profile ?? "")\n\($0)" }
    if let known = id.flatMap({ numbers[$0] }) { return known }
    // A list may be sent again and again.
    if id == nil, source == .row { return 1 }
    var count = counts[key] ?? SIMD4()
    count[source.rawValue] &+= 1
    counts[key] = count
    if let id { numbers[id] = count[source.rawValue] }
    return count[source.rawValue]
  }
}

/// A dictionary of what came lately: at least the last `most`.
private struct TwoAges<Value> {
  private var new: [String: Value] = [:]
  private var old: [String: Value] = [:]
  private let most = 1 << 14

  subscript(key: String) -> Value? {
    get { new[key] ?? old[key] }
    set {
      new[key] = newValue
      if new.count >= most { (old, new) = (new, [:]) }
    }
  }
}
