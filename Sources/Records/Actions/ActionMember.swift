import Core

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
