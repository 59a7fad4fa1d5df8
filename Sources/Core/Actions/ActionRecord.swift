/// One line of the suite's record stream, as far as actions go: read in one
/// pass, whether the action is bare or wrapped by `sse-tail`.
///
/// Slices point into the line and are valid as long as its bytes are.
public struct ActionRecord {
  /// What a line is.
  public enum Shape: Equatable, Sendable {
    /// One action: `fields` and `action` are set.
    case action
    /// A record with a list of rows (`activity_snapshot`, `actions_backfill`,
    /// or its bare data): `rows` is set.
    case list
    /// Any other record: statistics, voice states, lifecycle records.
    case other
  }

  /// The action's members.
  public private(set) var fields = ActionFields()
  /// The action's object: the line itself, or the wrapper's `data`.
  public private(set) var action = ScanValue.absent
  /// The list of rows: an array.
  public private(set) var rows = ScanValue.absent
  /// Whether the reader of `read` was given all of `rows`. False when there is
  /// a fault in the list or an element that is no object: it is to be walked
  /// with `ScanElements` then.
  public private(set) var hasReadRows = false
  /// Where the action came from.
  public private(set) var source = ActionWindow.Source.bare

  private var around = Envelope()
  private var inner = ActionFields()
  /// The list that the reader was given last.
  private var lastRows = ScanValue.absent
  private let memory = ScanMemory()

  /// What the line's object and its data hold besides an action's members.
  private struct Envelope {
    var event = ScanValue.absent
    var type = ScanValue.absent
    /// Whether `type` is the object's first member.
    var beginsWithType = false
    var data = ScanValue.absent
    var actions = ScanValue.absent
    var dataActions = ScanValue.absent
    /// Members that only the payload of a statistics or voice state event has.
    var payload: (stats: Bool, runtime: Bool, activeCount: Bool, sessions: Bool) =
      (false, false, false, false)
  }

  public init() {}

  /// Reads a line.
  ///
  /// - Parameters:
  ///   - line: one object with optional white space around it.
  ///   - reader: what takes the rows of a list; they count when the line turns
  ///     out to be one and `hasReadRows` is true.
  /// - Returns: what it is.
  /// - Throws: `ScanFault` when it is no JSON object.
  public mutating func read(
    _ line: UnsafeRawBufferPointer, rows reader: ActionRowReader? = nil
  ) throws(ScanFault) -> Shape {
    fields = ActionFields()
    lastRows = .absent
    around = Envelope()
    var walk = ScanWalk(line, memory)
    try walk.enterObject()
    let start = walk.cursor.at - 1
    while let key = try walk.nextKey() {
      let member = ActionMember(key)
      switch member {
      case .data: try readData(&walk, reader)
      case .actions: around.actions = try readRows(&walk, reader)
      case .event: around.event = try walk.value()
      case .type:
        around.type = try walk.value()
        if Self.isFirst(key, after: start) { around.beginsWithType = true }
      default:
        let value = try walk.value()
        switch member {
        case .stats: around.payload.stats = true
        case .runtime: around.payload.runtime = true
        case .activeCount: around.payload.activeCount = true
        case .sessions: around.payload.sessions = true
        default: fields.set(member, value)
        }
      }
    }
    action = ScanValue(start: start, count: walk.cursor.at - start)
    try walk.cursor.finish()
    return shape()
  }

  /// Reads the members of a `data` while crossing it, so that a wrapped action
  /// is not walked twice.
  private mutating func readData(
    _ outer: inout ScanWalk, _ reader: ActionRowReader?
  ) throws(ScanFault) {
    // A copy stays in registers.
    var walk = outer
    defer { outer = walk }
    inner = ActionFields()
    around.dataActions = .absent
    guard walk.isAtValue("{") else {
      around.data = try walk.value()
      return
    }
    let start = walk.cursor.at
    try walk.enterObject()
    while let key = try walk.nextKey() {
      let member = ActionMember(key)
      if member == .actions {
        around.dataActions = try readRows(&walk, reader)
      } else {
        inner.set(member, try walk.value())
      }
    }
    around.data = ScanValue(start: start, count: walk.cursor.at - start)
  }

  /// Crosses the value of `actions`, which may be anything.
  private mutating func readRows(
    _ walk: inout ScanWalk, _ reader: ActionRowReader?
  ) throws(ScanFault) -> ScanValue {
    // Whatever it was given before does not count any more.
    lastRows = .absent
    guard let reader, walk.isAtValue("[") else { return try walk.value() }
    let start = walk.cursor.at
    guard walk.readRows(reader) else { return try walk.value() }
    lastRows = ScanValue(start: start, count: walk.cursor.at - start)
    return lastRows
  }

  private mutating func list(_ found: ScanValue) -> Shape {
    rows = found
    hasReadRows = found.start == lastRows.start && found.count == lastRows.count
    return .list
  }

  /// Whether only white space stands between the object's bracket and a key.
  private static func isFirst(_ key: ScanValue, after start: UnsafePointer<UInt8>) -> Bool {
    guard let name = key.bytes.baseAddress else { return false }
    let between = UnsafeRawBufferPointer(
      start: start + 1, count: name - 1 - UnsafeRawPointer(start + 1))
    return between.allSatisfy { $0 == 0x20 || (0x09...0x0d).contains($0) }
  }

  /// Whether this is a record that a command of the suite made: `type` comes
  /// first in those, and none of them is an action, though it may name a kind.
  /// An action says when it was.
  private var isOurs: Bool {
    around.beginsWithType && around.type.isString && fields.createdAt.isNull
  }

  private mutating func shape() -> Shape {
    if fields.kind.isString {
      if isOurs { return .other }
      source = fields.id.isNull ? .bare : .row
      return .action
    }
    if around.data.isObject {
      if inner.kind.isString {
        fields = inner
        action = around.data
        source = around.event.isText("voice_event") ? .voiceEvent : .actionEvent
        if !fields.id.isNull { source = .row }
        return .action
      }
      if around.dataActions.isArray { return list(around.dataActions) }
    }
    if around.actions.isArray { return list(around.actions) }
    let payload = around.payload
    if around.type.isString || !around.event.isAbsent && !around.data.isAbsent
      || payload.stats && payload.runtime || payload.activeCount && payload.sessions
    {
      return .other
    }
    source = fields.id.isNull ? .bare : .row
    return .action
  }
}

extension ScanValue {
  /// Whether this is a string that holds just this text, without escapes.
  fileprivate func isText(_ text: StaticString) -> Bool {
    count == text.utf8CodeUnitCount + 2 && isString
      && bytes[1..<count - 1].elementsEqual(
        UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}
