import Agent
import Core

/// Says of records in which guild they were found, where several were asked.
struct GuildMark {
  private let guilds: [GuildChoice.Guild]

  /// - Parameter guilds: those that are asked.
  init(_ guilds: [GuildChoice.Guild]) { self.guilds = guilds }

  /// The record with a last member `guild_name`, null for one of no guild; as it
  /// came where one guild is asked.
  ///
  /// - Parameter row: one JSON value.
  func marked(_ row: [UInt8]) -> [UInt8] {
    guard guilds.count > 1, let value = try? row.withUnsafeBytes({ try JSONValue.parse($0) }),
      value.isObject, !value.members.isEmpty, let end = row.lastIndex(of: UInt8(ascii: "}"))
    else { return row }
    let id = value[either: "guild_id", "guildId"]?.text
    let guild = guilds.first { $0.id == id }
    let name = guild.map { JSONQuote.string($0.name.isEmpty ? $0.id : $0.name) } ?? "null"
    return row[..<end] + Array(",\"guild_name\":\(name)}".utf8)
  }
}
