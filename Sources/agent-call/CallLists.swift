import Agent
import CLibc
import Core
import Screen
import Web

/// The commands whose answers are lists.
extension Call {
  func list() throws -> ExitStatus {
    guard let listing = options.command.listing, let path = try path(listing) else {
      return .failure
    }
    return try finish(try rows(listing, path), listing)
  }

  /// Where the list is; nil when the command has none of its own.
  private func path(_ listing: Listing) throws(CallFailure) -> String? {
    switch options.command {
    case .guilds: ClankyPath.guilds
    case .channels: ClankyPath.channels(guild: try guild())
    case .automations:
      ClankyPath.automations(
        guild: try guild(), channel: options.channel, statuses: options.statuses,
        limit: limit(listing))
    case .browserSessions:
      ClankyPath.browserSessions(
        guild: options.guild, sinceHours: options.since?.hours(now: .now()),
        limit: limit(listing))
    case .mcp: ClankyPath.mcp
    case .asrSessions: ClankyPath.asrSessions
    case .toolEvents: ClankyPath.toolEvents
    default: nil
    }
  }

  /// Runs of an automation, or of all automations of the guild.
  func runs() throws -> ExitStatus {
    let guild = try guild()
    var automations = options.operand.map { [$0] } ?? []
    if automations.isEmpty {
      let path = ClankyPath.automations(
        guild: guild, statuses: ["all"], limit: Listing.automations.most)
      automations = try rows(.automations, path).compactMap { row in
        (try? row.withUnsafeBytes { try JSONValue.parse($0) })?["id"]?.text
      }
    }
    var found: [[UInt8]] = []
    for automation in automations where found.count < options.count ?? .max {
      found += try rows(
        .runs, ClankyPath.runs(of: automation, guild: guild, limit: limit(.runs)))
    }
    return try finish(found, .runs)
  }

  /// Says something that a person at a terminal wants to know and a script sees
  /// by the status.
  func tellPerson(_ words: String) {
    if isatty(2) == 1 && !options.quiet { diagnostics.say(words) }
  }

  private func rows(_ listing: Listing, _ path: String) throws(CallFailure) -> [[UInt8]] {
    let reply = try caller.call(path)
    let place = caller.place(path)
    let rows = try Answer.list(reply, listing.member, place: place)
    if let most = listing.most, rows.count == most, options.count ?? .max > most {
      diagnostics.error(place, "there may be more than these \(most): the backend gives no more")
    }
    return rows
  }

  private func finish(_ rows: [[UInt8]], _ listing: Listing) throws(WriteFailure) -> ExitStatus {
    if rows.isEmpty {
      tellPerson("no \(options.command.rawValue)")
      return .negative
    }
    try output.list(Array(rows.prefix(options.count ?? .max)), listing)
    return .success
  }

  /// The most that an answer may hold, so that the backend's default cuts nothing.
  private func limit(_ listing: Listing) -> Int? {
    listing.most.map { min($0, options.count ?? $0) }
  }

  private func guild() throws(CallFailure) -> String {
    let given = options.command == .runs ? options.guild : options.guild ?? options.operand
    return try GuildChoice.choose(given, caller)
  }
}
