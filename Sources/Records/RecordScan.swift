public import Core

/// What a line of the record stream is.
public enum RecordShape: Equatable, Sendable {
  /// One action, bare or the data of an event.
  case action
  /// A record with a list of rows, newest first as a rule: `activity_snapshot`,
  /// `actions_backfill`, or the data of one.
  case list
  /// The server's counters: `stats_update`, or its data.
  case stats
  /// All voice sessions that there are: `voice_state`, or its data.
  case voiceState
  /// A record that a command of the suite made, told by its `type`.
  case own
  /// An event with any other data.
  case event
  /// An object that says nothing of what it is. Commands that look for actions
  /// take it for one without a kind; it may be a fact or a voice session, too.
  case unmarked
}

/// One line of the record stream, read in one pass: what it is, and where in it
/// stands what it tells. All commands tell the shapes of records by this.
///
/// Slices point into the line and are valid as long as its bytes are.
public struct RecordScan {
  /// The object that has the shape: the line itself, or the wrapper's `data`.
  public private(set) var object = ScanValue.absent
  /// Whether `object` is the wrapper's `data`.
  public private(set) var isWrapped = false
  /// The list of rows: an array.
  public private(set) var rows = ScanValue.absent
  /// Whether the reader of `read` was given all of `rows`. False when there is
  /// a fault in the list or an element that is not an object: it is to be walked
  /// with `ScanElements` then.
  public private(set) var hasReadRows = false
  /// Where the action came from.
  public private(set) var source = ActionWindow.Source.bare

  /// The members of `object`, an action's. They are not copied: reading the next
  /// line makes them that one's.
  @inlinable
  public var fields: ActionFields { ActionFields(isWrapped ? inner : outer) }

  /// Whose record it is, where it says so: a string of the line's own object.
  @inlinable
  public var profile: ScanValue {
    let value = outer[.profile]
    return value.isString ? value : .absent
  }

  /// The event's name, and what came with it; absent where the line has none.
  public var event: ScanValue { outer[.event] }
  /// See `event`.
  public var data: ScanValue { outer[.data] }
  /// What kind of record of ours it is.
  public var type: ScanValue { outer[.type] }
  /// The counters beside a list of rows, or of `object`.
  public var stats: ScanValue { isWrapped ? inner[.stats] : outer[.stats] }
  /// What the server says of itself beside its counters.
  public var runtime: ScanValue { isWrapped ? inner[.runtime] : outer[.runtime] }

  /// Whether a key is that of `profile`.
  public static func isProfile(_ key: ScanValue) -> Bool { ActionMember(key) == .profile }

  @usableFromInline let outer = ScanValues()
  @usableFromInline let inner = ScanValues()
  private let row = ScanValues()
  private var lastRows = ScanValue.absent
  private let names = ActionMember.names
  private let memory = ScanMemory()

  public init() {}

  /// Reads a line.
  ///
  /// - Parameters:
  ///   - line: one object with optional white space around it; with a reader, an array of rows,
  ///     too.
  ///   - reader: what takes the rows of a list; they count when the line turns
  ///     out to be one and `hasReadRows` is true.
  /// - Returns: what it is.
  /// - Throws: `ScanFault` when it is neither.
  public mutating func read(
    _ line: UnsafeRawBufferPointer, rows reader: (any ActionRowReader)? = nil
  ) throws(ScanFault) -> RecordShape {
    isWrapped = false
    outer.clear()
    var walk = ScanWalk(line, memory)
    walk.cursor.skipWhite()
    if reader != nil, walk.isAt("[") {
      object = try readRows(&walk, reader)
      try walk.cursor.finish()
      return list(object, isWrapped: false)
    }
    try walk.enterObject()
    let start = walk.cursor.at - 1
    while let name = try walk.cross(names, into: outer) {
      if name == ActionMember.data.rawValue {
        outer[.data] = try readData(&walk, reader)
      } else {
        outer[name] = try readRows(&walk, reader)
      }
    }
    object = ScanValue(start: start, count: walk.cursor.at - start)
    try walk.cursor.finish()
    return shape()
  }

  /// Reads a `data` while crossing it, so that a wrapped action is not walked twice.
  private mutating func readData(
    _ outer: inout ScanWalk, _ reader: (any ActionRowReader)?
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

  private mutating func readRows(
    _ walk: inout ScanWalk, _ reader: (any ActionRowReader)?
  ) throws(ScanFault) -> ScanValue {
    // Whatever it was given before does not count any more.
    lastRows = .absent
    guard let reader, walk.isAt("[") else { return try walk.value() }
    let start = walk.cursor.at
    guard walk.readRows(reader, names, row) else { return try walk.value() }
    lastRows = ScanValue(start: start, count: walk.cursor.at - start)
    return lastRows
  }
}

/// The rule by which shapes are told apart, in the order in which marks count.
extension RecordScan {
  private mutating func shape() -> RecordShape {
    if outer[.type].isString && beginsAsOwn { return .own }
    if outer[.kind].isString { return unwrapped(.action) }
    let data = outer[.data]
    let isEvent = !outer[.event].isAbsent && !data.isAbsent
    if data.isObject {
      if inner[.kind].isString { return wrappedAction() }
      if inner[.actions].isArray { return list(inner[.actions], isWrapped: true) }
      if isEvent, let state = Self.state(inner) {
        (object, isWrapped) = (data, true)
        return state
      }
    }
    if outer[.actions].isArray { return list(outer[.actions], isWrapped: false) }
    if outer[.type].isString { return .own }
    if isEvent { return .event }
    return Self.state(outer) ?? unwrapped(.unmarked)
  }

  /// Whether a record with a `type` is one that a command of the suite made: it begins
  /// with it, and does not say when it was created, as an action does. Nothing
  /// else in it makes it an action, neither a kind nor data.
  private var beginsAsOwn: Bool {
    guard ActionFields(outer).createdAt.isNull else { return false }
    var members = try? ScanMembers(object.bytes)
    guard (try? members?.next()) == true, let key = members?.key else { return false }
    return ActionMember(key) == .type
  }

  private mutating func unwrapped(_ shape: RecordShape) -> RecordShape {
    source = outer[.id].isNull ? .bare : .row
    return shape
  }

  private mutating func wrappedAction() -> RecordShape {
    (object, isWrapped) = (outer[.data], true)
    let isVoice = outer[.event].isText("voice_event")
    source = !inner[.id].isNull ? .row : isVoice ? .voiceEvent : .actionEvent
    return .action
  }

  private mutating func list(_ found: ScanValue, isWrapped: Bool) -> RecordShape {
    self.isWrapped = isWrapped
    if isWrapped { object = outer[.data] }
    rows = found
    hasReadRows = found.start == lastRows.start && found.count == lastRows.count
    return .list
  }

  private static func state(_ members: ScanValues) -> RecordShape? {
    if members[.stats].isObject { return .stats }
    if members[.sessions].isArray || !members[.activeCount].isAbsent { return .voiceState }
    return nil
  }
}

extension ScanValue {
  /// Whether this is a string that holds just this text, without escapes.
  public func isText(_ text: StaticString) -> Bool {
    count == text.utf8CodeUnitCount + 2 && isString
      && bytes[1..<count - 1].elementsEqual(
        UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}
