import Core

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

  /// Whose record it is, where it says so: a string of the line's own object.
  public var profile: ScanValue {
    let value = outer[.profile]
    return value.isString ? value : .absent
  }

  /// Whether a key is that of `profile`.
  public static func isProfile(_ key: ScanValue) -> Bool { ActionMember(key) == .profile }

  /// The members of the line's object, of its data, and of a row.
  private let outer = ScanValues()
  private let inner = ScanValues()
  private let row = ScanValues()
  /// The list that the reader was given last.
  private var lastRows = ScanValue.absent
  private let names = ActionMember.names
  private let memory = ScanMemory()

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
    lastRows = .absent
    outer.clear()
    var walk = ScanWalk(line, memory)
    try walk.enterObject()
    let start = walk.cursor.at - 1
    while let name = try walk.cross(names, into: outer) {
      if name == ActionMember.data.rawValue {
        outer[.data] = try readData(&walk, reader)
      } else {
        outer[name] = try readRows(&walk, reader)
      }
    }
    action = ScanValue(start: start, count: walk.cursor.at - start)
    try walk.cursor.finish()
    fields = ActionFields(outer)
    return shape()
  }

  /// Reads the members of a `data` while crossing it, so that a wrapped action
  /// is not walked twice.
  private mutating func readData(
    _ outer: inout ScanWalk, _ reader: ActionRowReader?
  ) throws(ScanFault) -> ScanValue {
    // A copy stays in registers.
    var walk = outer
    defer { outer = walk }
    inner.clear()
    guard walk.isAt("{") else { return try walk.value() }
    let start = walk.cursor.at
    try walk.enterObject()
    while let name = try walk.cross(names, into: inner) {
      inner[name] =
        name == ActionMember.actions.rawValue ? try readRows(&walk, reader) : try walk.value()
    }
    return ScanValue(start: start, count: walk.cursor.at - start)
  }

  /// Crosses the value of `actions`, an object or array.
  private mutating func readRows(
    _ walk: inout ScanWalk, _ reader: ActionRowReader?
  ) throws(ScanFault) -> ScanValue {
    // Whatever it was given before does not count any more.
    lastRows = .absent
    guard let reader, walk.isAt("[") else { return try walk.value() }
    let start = walk.cursor.at
    guard walk.readRows(reader, names, row) else { return try walk.value() }
    lastRows = ScanValue(start: start, count: walk.cursor.at - start)
    return lastRows
  }

  private mutating func list(_ found: ScanValue) -> Shape {
    rows = found
    hasReadRows = found.start == lastRows.start && found.count == lastRows.count
    return .list
  }

  /// Whether this is a record that a command of the suite made: it begins with a
  /// `type`, and does not say when it was created, as an action does. Nothing
  /// else in it makes it an action, neither a kind nor data.
  private var isOurs: Bool {
    guard outer[.type].isString && fields.createdAt.isNull else { return false }
    var members = try? ScanMembers(action.bytes)
    guard (try? members?.next()) == true, let key = members?.key else { return false }
    return ActionMember(key) == .type
  }

  private mutating func shape() -> Shape {
    if isOurs { return .other }
    if fields.kind.isString {
      source = fields.id.isNull ? .bare : .row
      return .action
    }
    let data = outer[.data]
    if data.isObject {
      if inner[.kind].isString {
        fields = ActionFields(inner)
        action = data
        source = outer[.event].isText("voice_event") ? .voiceEvent : .actionEvent
        if !fields.id.isNull { source = .row }
        return .action
      }
      if inner[.actions].isArray { return list(inner[.actions]) }
    }
    if outer[.actions].isArray { return list(outer[.actions]) }
    if outer[.type].isString || !outer[.event].isAbsent && !data.isAbsent
      || !outer[.stats].isAbsent && !outer[.runtime].isAbsent
      || !outer[.activeCount].isAbsent && !outer[.sessions].isAbsent
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
