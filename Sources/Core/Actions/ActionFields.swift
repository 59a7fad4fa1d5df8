import CLibc

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
    var cursor = ScanCursor(bytes)
    try cursor.enterObject()
    var isFirst = true
    while let key = try cursor.nextKey(&isFirst) {
      let name = ActionMember(key)
      let value = try cursor.value()
      set(name, value)
    }
    try cursor.finish()
  }

  /// Takes the value of a member.
  @inline(__always)
  mutating func set(_ member: ActionMember, _ value: ScanValue) {
    switch member {
    case .kind: kind = value
    case .id: id = value
    case .content: content = value
    case .metadata: metadata = value
    case .level: level = value
    case .rowCreatedAt: snake.createdAt = value
    case .liveCreatedAt: camel.createdAt = value
    case .rowGuild: snake.guild = value
    case .liveGuild: camel.guild = value
    case .rowChannel: snake.channel = value
    case .liveChannel: camel.channel = value
    case .rowMessage: snake.message = value
    case .liveMessage: camel.message = value
    case .rowUser: snake.user = value
    case .liveUser: camel.user = value
    case .rowCost: snake.cost = value
    case .liveCost: camel.cost = value
    default: break
    }
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
