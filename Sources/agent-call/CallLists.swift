import Agent
import CLibc
import Core
import Screen
import Web

/// The commands whose answers are lists.
extension Call {
  func list() throws -> ExitStatus {
    guard let listing = options.command.listing else { return .failure }
    var path = listing.path
    var query: [(name: String, value: String?)] = []
    switch options.command {
    case .channels: path += "/\(QueryText.part(try guild()))/channels"
    case .automations:
      query = [
        ("guildId", try guild()), ("channelId", options.channel),
        ("status", options.statuses.isEmpty ? nil : options.statuses.joined(separator: ",")),
      ]
    case .browserSessions:
      query = [
        ("guildId", options.guild),
        ("sinceHours", options.since?.hours(now: .now())),
      ]
    default: break
    }
    return try finish(try rows(listing, path + QueryText.encode(query + limit(listing))), listing)
  }

  /// Runs of an automation, or of all automations of the guild.
  func runs() throws -> ExitStatus {
    let guild = try guild()
    var automations = options.operand.map { [$0] } ?? []
    if automations.isEmpty {
      let query = QueryText.encode([
        ("guildId", guild), ("status", "all"), ("limit", Listing.automations.most.map { "\($0)" }),
      ])
      automations = try rows(.automations, Listing.automations.path + query).compactMap { row in
        (try? row.withUnsafeBytes { try JSONValue.parse($0) })?["id"]?.text
      }
    }
    var found: [[UInt8]] = []
    for automation in automations where found.count < options.count ?? .max {
      let query = QueryText.encode(
        [("guildId", guild), ("automationId", automation)] + limit(.runs))
      found += try rows(.runs, Listing.runs.path + query)
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
  private func limit(_ listing: Listing) -> [(name: String, value: String?)] {
    [("limit", listing.most.map { "\(min($0, options.count ?? $0))" })]
  }

  private func guild() throws(CallFailure) -> String {
    let given = options.command == .runs ? options.guild : options.guild ?? options.operand
    return try GuildChoice.choose(given, caller)
  }
}
