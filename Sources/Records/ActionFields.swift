public import Core

/// The members of one action, as slices of its bytes, in either spelling of
/// the wire: rows (`created_at`, `usd_cost`) and live actions (`createdAt`,
/// `usdCost`).
///
/// Of a duplicated key the last one counts. Where both spellings are there, the
/// row's counts unless it is null. Members inside others do not count.
public struct ActionFields {
  @usableFromInline let values: ScanValues

  /// What the action is; a string in every action that servers send.
  @inlinable public var kind: ScanValue { values[.kind] }
  /// The row's number; absent in live actions of a dashboard.
  @inlinable public var id: ScanValue { values[.id] }
  /// The words of the action.
  @inlinable public var content: ScanValue { values[.content] }
  /// An object as a rule.
  @inlinable public var metadata: ScanValue { values[.metadata] }
  /// `info`, `warn`, `error`, seldom there.
  @inlinable public var level: ScanValue { values[.level] }
  /// RFC 3339.
  @inlinable public var createdAt: ScanValue { value(.rowCreatedAt, .liveCreatedAt) }
  /// The guild's id.
  @inlinable public var guild: ScanValue { value(.rowGuild, .liveGuild) }
  /// The channel's id.
  @inlinable public var channel: ScanValue { value(.rowChannel, .liveChannel) }
  /// The message's id.
  @inlinable public var message: ScanValue { value(.rowMessage, .liveMessage) }
  /// The user's id.
  @inlinable public var user: ScanValue { value(.rowUser, .liveUser) }
  /// US dollars; null or absent when unknown.
  @inlinable public var cost: ScanValue { value(.rowCost, .liveCost) }

  @inlinable @inline(__always)
  func value(_ row: ActionMember, _ live: ActionMember) -> ScanValue {
    let value = values[row]
    return value.isNull ? values[live] : value
  }

  /// No member at all.
  public init() { values = ScanValues() }

  /// - Parameter bytes: one action: an object with optional white space around
  ///   it; must outlive the fields.
  public init(_ bytes: UnsafeRawBufferPointer) throws(ScanFault) {
    let memory = ScanMemory()
    values = ScanValues()
    var walk = ScanWalk(bytes, memory)
    try walk.enterObject()
    while let name = try walk.cross(ActionMember.names, into: values) {
      values[name] = try walk.value()
    }
    try walk.cursor.finish()
    withExtendedLifetime(memory) {}
  }

  @inlinable @inline(__always)
  init(_ values: ScanValues) { self.values = values }

  /// Whether a key is one of an action's own, in either spelling; `level` is not
  /// in the rows.
  public static func isMember(_ key: ScanValue) -> Bool {
    let member = ActionMember(key)
    return member.rawValue <= ActionMember.liveCost.rawValue && member != .level
  }
}

/// The keys of actions, and of the records around them, that have a meaning: the
/// raw value is the number in `names`.
@usableFromInline
enum ActionMember: Int {
  case kind, id, content, metadata, level
  case rowCreatedAt, rowGuild, rowChannel, rowMessage, rowUser, rowCost
  case liveCreatedAt, liveGuild, liveChannel, liveMessage, liveUser, liveCost
  case event, data, type, actions, stats, runtime, activeCount, sessions, profile
  case unknown = 31

  static let names = ScanNames(
    [
      "kind", "id", "content", "metadata", "level",
      "created_at", "guild_id", "channel_id", "message_id", "user_id", "usd_cost",
      "createdAt", "guildId", "channelId", "messageId", "userId", "usdCost",
      "event", "data", "type", "actions", "stats", "runtime", "activeCount", "sessions", "profile",
    ], walked: [ActionMember.data.rawValue, ActionMember.actions.rawValue])

  init(_ key: ScanValue) {
    self = ActionMember(rawValue: Self.names.number(of: key)) ?? .unknown
  }
}

extension ScanValues {
  @inlinable @inline(__always)
  subscript(_ member: ActionMember) -> ScanValue {
    get { self[member.rawValue] }
    set { self[member.rawValue] = newValue }
  }
}

/// Takes the rows of a list while its line is read, so that they are not
/// walked twice.
public protocol ActionRowReader: AnyObject {
  /// A list begins; what came of an earlier one does not count any more.
  func begin()
  /// The next row.
  func add(_ fields: ActionFields, _ action: ScanValue)
}

extension ScanWalk {
  /// Crosses an array of objects, at whose bracket the cursor is, and hands them
  /// over. Returns false, and the position unchanged, when there is any fault in it or an element
  /// that is not an object.
  mutating func readRows(
    _ reader: any ActionRowReader, _ names: ScanNames, _ values: ScanValues
  ) -> Bool {
    // A copy stays in registers, and is forgotten after a fault.
    var walk = self
    reader.begin()
    do throws(ScanFault) {
      try walk.rows(reader, names, values)
    } catch {
      return false
    }
    self = walk
    return true
  }

  private mutating func rows(
    _ reader: any ActionRowReader, _ names: ScanNames, _ values: ScanValues
  ) throws(ScanFault) {
    cursor.at += 1
    cursor.skipWhite()
    if isAt("]") {
      cursor.at += 1
      return
    }
    while true {
      cursor.skipWhite()
      let start = cursor.at
      try enterObject()
      values.clear()
      while let name = try cross(names, into: values) { values[name] = try value() }
      reader.add(ActionFields(values), ScanValue(start: start, count: cursor.at - start))
      cursor.skipWhite()
      guard cursor.at < cursor.end else { throw .unbalancedBrackets }
      let byte = cursor.at.pointee
      cursor.at += 1
      if byte == UInt8(ascii: "]") { return }
      guard byte == UInt8(ascii: ",") else { throw .expectedComma }
    }
  }
}
