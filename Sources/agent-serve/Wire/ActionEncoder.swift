/// Writes actions in the two spellings of the wire, as JSON on one line.
enum ActionEncoder {
  /// The longest content of a row, in UTF-16 units (Agent/Clanky/CONTRACT.md 3.1).
  static let rowContentLimit = 2000

  /// A row: snake_case, every member there, content cut.
  static func appendRow(_ stored: StoredAction, to out: inout [UInt8]) {
    let action = stored.action
    out += "{\"id\":\(stored.id),\"created_at\":".utf8
    JSONText.append(action.createdAt, to: &out)
    out += ",\"guild_id\":".utf8
    append(action.guild, to: &out)
    out += ",\"channel_id\":".utf8
    append(action.channel, to: &out)
    out += ",\"message_id\":".utf8
    append(action.message, to: &out)
    out += ",\"user_id\":".utf8
    append(action.user, to: &out)
    out += ",\"kind\":".utf8
    JSONText.append(action.kind, to: &out)
    out += ",\"content\":".utf8
    if let content = action.content {
      JSONText.append(content, limit: rowContentLimit, to: &out)
    } else {
      out += "null".utf8
    }
    out += ",\"metadata\":".utf8
    out += (action.metadata ?? "null").utf8
    out += ",\"usd_cost\":".utf8
    out += (action.cost ?? "0").utf8
    out.append(UInt8(ascii: "}"))
  }

  /// A live action: camelCase, only the members that were given, content whole,
  /// and, unlike the dashboard's, its id.
  static func appendLive(_ stored: StoredAction, to out: inout [UInt8]) {
    let action = stored.action
    out += "{\"kind\":".utf8
    JSONText.append(action.kind, to: &out)
    member("guildId", action.guild, to: &out)
    member("channelId", action.channel, to: &out)
    member("messageId", action.message, to: &out)
    member("userId", action.user, to: &out)
    member("content", action.content, to: &out)
    if let metadata = action.metadata {
      out += ",\"metadata\":".utf8
      out += metadata.utf8
    }
    if let cost = action.cost {
      out += ",\"usdCost\":".utf8
      out += cost.utf8
    }
    if !action.extra.isEmpty {
      out.append(UInt8(ascii: ","))
      out += action.extra.utf8
    }
    out += ",\"createdAt\":".utf8
    JSONText.append(action.createdAt, to: &out)
    out += ",\"id\":\(stored.id)}".utf8
  }

  /// An array of rows.
  static func rows(_ actions: [StoredAction]) -> [UInt8] {
    var out: [UInt8] = [UInt8(ascii: "[")]
    for (index, action) in actions.enumerated() {
      if index > 0 { out.append(UInt8(ascii: ",")) }
      appendRow(action, to: &out)
    }
    out.append(UInt8(ascii: "]"))
    return out
  }

  private static func append(_ text: String?, to out: inout [UInt8]) {
    if let text { JSONText.append(text, to: &out) } else { out += "null".utf8 }
  }

  private static func member(_ name: String, _ text: String?, to out: inout [UInt8]) {
    guard let text else { return }
    out += ",\"\(name)\":".utf8
    JSONText.append(text, to: &out)
  }
}
