import CLibc

/// The keys of actions, and of the records around them, that have a meaning.
enum ActionMember {
  case kind, id, content, metadata, level
  case rowCreatedAt, rowGuild, rowChannel, rowMessage, rowUser, rowCost
  case liveCreatedAt, liveGuild, liveChannel, liveMessage, liveUser, liveCost
  case event, data, type, actions, stats, runtime, activeCount, sessions
  case unknown

  /// - Parameter key: the bytes between the quotes; escapes are decoded.
  @inline(__always)
  init(_ key: ScanValue) {
    self = Self.match(key.start, key.count)
    if self == .unknown && key.count > 0 && memchr(key.start, 0x5c, key.count) != nil {
      self = Self.escaped(key)
    }
  }

  @inline(never)
  private static func escaped(_ key: ScanValue) -> ActionMember {
    let scratch = ScanScratch()
    return withExtendedLifetime(scratch) {
      let text = ScanValue(scratch.text(of: key.bytes))
      return match(text.start, text.count)
    }
  }

  @inline(__always)
  private static func match(_ key: UnsafePointer<UInt8>, _ count: Int) -> ActionMember {
    func equals(_ name: StaticString) -> Bool {
      memcmp(key, name.utf8Start, name.utf8CodeUnitCount) == 0
    }
    switch count {
    case 2: if equals("id") { return .id }
    case 4:
      if equals("kind") { return .kind }
      if equals("data") { return .data }
      if equals("type") { return .type }
    case 5:
      if equals("event") { return .event }
      if equals("level") { return .level }
      if equals("stats") { return .stats }
    case 6: if equals("userId") { return .liveUser }
    case 7:
      if equals("content") { return .content }
      if equals("user_id") { return .rowUser }
      if equals("guildId") { return .liveGuild }
      if equals("usdCost") { return .liveCost }
      if equals("actions") { return .actions }
      if equals("runtime") { return .runtime }
    case 8:
      if equals("metadata") { return .metadata }
      if equals("guild_id") { return .rowGuild }
      if equals("usd_cost") { return .rowCost }
      if equals("sessions") { return .sessions }
    case 9:
      if equals("createdAt") { return .liveCreatedAt }
      if equals("channelId") { return .liveChannel }
      if equals("messageId") { return .liveMessage }
    case 10:
      if equals("created_at") { return .rowCreatedAt }
      if equals("channel_id") { return .rowChannel }
      if equals("message_id") { return .rowMessage }
    case 11: if equals("activeCount") { return .activeCount }
    default: break
    }
    return .unknown
  }
}
