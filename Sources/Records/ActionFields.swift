import CLibc
public import Core

/// The members of one action, as slices of its bytes, in either spelling of
/// the wire: rows (`created_at`, `usd_cost`) and live actions (`createdAt`,
/// `usdCost`).
///
/// Of a duplicated key the last one counts. Where both spellings are there, the
/// row's counts unless it is null. Members inside others do not count.
public struct ActionFields {
  /// What the action is; a string in every action that servers send.
  public var kind = ScanValue.absent
  /// The row's number; absent in live actions of a dashboard.
  public var id = ScanValue.absent
  /// The words of the action.
  public var content = ScanValue.absent
  /// An object as a rule.
  public var metadata = ScanValue.absent
  /// `info`, `warn`, `error`, seldom there.
  public var level = ScanValue.absent

  /// RFC 3339.
  public var createdAt: ScanValue { snake.createdAt.isNull ? camel.createdAt : snake.createdAt }
  /// The guild's id.
  public var guild: ScanValue { snake.guild.isNull ? camel.guild : snake.guild }
  /// The channel's id.
  public var channel: ScanValue { snake.channel.isNull ? camel.channel : snake.channel }
  /// The message's id.
  public var message: ScanValue { snake.message.isNull ? camel.message : snake.message }
  /// The user's id.
  public var user: ScanValue { snake.user.isNull ? camel.user : snake.user }
  /// US dollars; null or absent when unknown.
  public var cost: ScanValue { snake.cost.isNull ? camel.cost : snake.cost }

  /// What has two spellings.
  struct Spelled {
    var createdAt = ScanValue.absent
    var guild = ScanValue.absent
    var channel = ScanValue.absent
    var message = ScanValue.absent
    var user = ScanValue.absent
    var cost = ScanValue.absent
  }

  var snake = Spelled()
  var camel = Spelled()

  /// No member at all.
  public init() {}

  /// - Parameter bytes: one action: an object with optional white space around
  ///   it; must outlive the fields.
  /// - Throws: `ScanFault`.
  public init(_ bytes: UnsafeRawBufferPointer) throws(ScanFault) {
    let memory = ScanMemory()
    let values = ScanValues()
    var walk = ScanWalk(bytes, memory)
    try walk.enterObject()
    while let name = try walk.cross(ActionMember.names, into: values) {
      values[name] = try walk.value()
    }
    try walk.cursor.finish()
    self.init(values)
    withExtendedLifetime((memory, values)) {}
  }

  /// The members among what a walk found.
  @inline(__always)
  init(_ values: ScanValues) {
    kind = values[.kind]
    id = values[.id]
    content = values[.content]
    metadata = values[.metadata]
    level = values[.level]
    snake = Spelled(
      createdAt: values[.rowCreatedAt], guild: values[.rowGuild], channel: values[.rowChannel],
      message: values[.rowMessage], user: values[.rowUser], cost: values[.rowCost])
    camel = Spelled(
      createdAt: values[.liveCreatedAt], guild: values[.liveGuild], channel: values[.liveChannel],
      message: values[.liveMessage], user: values[.liveUser], cost: values[.liveCost])
  }

  /// Whether a key is one of an action's own, in either spelling; `level` is not
  /// in the rows.
  public static func isMember(_ key: ScanValue) -> Bool {
    switch ActionMember(key) {
    case .kind, .id, .content, .metadata, .rowCreatedAt, .rowGuild, .rowChannel, .rowMessage,
      .rowUser, .rowCost, .liveCreatedAt, .liveGuild, .liveChannel, .liveMessage, .liveUser,
      .liveCost:
      true
    default: false
    }
  }
}

/// The keys of actions, and of the records around them, that have a meaning: the
/// raw value is the number in `names`.
enum ActionMember: Int {
  case kind, id, content, metadata, level
  case rowCreatedAt, rowGuild, rowChannel, rowMessage, rowUser, rowCost
  case liveCreatedAt, liveGuild, liveChannel, liveMessage, liveUser, liveCost
  case event, data, type, actions, stats, runtime, activeCount, sessions, profile
  case unknown = 31

  /// How they are spelled, in the order of the cases.
  static let names = ScanNames(
    [
      "kind", "id", "content", "metadata", "level",
      "created_at", "guild_id", "channel_id", "message_id", "user_id", "usd_cost",
      "createdAt", "guildId", "channelId", "messageId", "userId", "usdCost",
      "event", "data", "type", "actions", "stats", "runtime", "activeCount", "sessions", "profile",
    ], walked: [ActionMember.data.rawValue, ActionMember.actions.rawValue])

  /// - Parameter key: the bytes between the quotes; escapes are decoded.
  init(_ key: ScanValue) {
    self = ActionMember(rawValue: Self.names.number(of: key)) ?? .unknown
  }
}

extension ScanValues {
  /// The value of a member; absent if there was none.
  @inline(__always)
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
  ///
  /// - Parameters:
  ///   - fields: its members.
  ///   - action: its object.
  func add(_ fields: ActionFields, _ action: ScanValue)
}

extension ScanWalk {
  /// Crosses an array of objects, at whose bracket the cursor is, and hands them
  /// over.
  ///
  /// - Parameters:
  ///   - reader: takes the rows.
  ///   - names: those of `ActionMember`.
  ///   - values: memory for the members of a row.
  /// - Returns: false, and the position unchanged, when there is any fault in it
  ///   or an element that is not an object.
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
