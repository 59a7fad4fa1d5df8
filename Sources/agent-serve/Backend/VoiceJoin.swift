import Core
import Records

/// `POST /api/voice/join` (Agent/Clanky/CONTRACT.md 6), answered with what the agent told:
/// there is no Discord here, and nobody joins anything.
struct VoiceJoin: Equatable {
  struct Request: Equatable {
    var guild: String?
    var requester: String?
    var channel: String?
    var source = "dashboard_voice_tab"

    init(_ object: ScanObject) {
      func word(_ name: String) -> String? {
        let text = (object.text(name) ?? "").trimmingBlanks()
        return text.isEmpty ? nil : text
      }
      guild = word("guildId")
      requester = word("requesterUserId")
      channel = word("textChannelId")
      source = word("source") ?? source
    }
  }

  var isDone = false
  var reason: String
  var guild: String?
  var voiceChannel: String?
  var textChannel: String?
  var requester: String?
  /// 503 when there is no agent to ask at all.
  var status = 200
  private let request: Request

  init(_ request: Request, guilds: [Guilds.Guild], sessions: [ScanObject]) {
    self.request = request
    requester = request.requester
    func people(_ guild: String?) -> [String] {
      sessions.first { $0.text("guildId") == guild }?
        .objects("participants").compactMap { $0.text("userId") } ?? []
    }
    let ids = guilds.map(\.id) + sessions.compactMap { $0.text("guildId") }
    guild =
      request.guild
      ?? ids.first { id in
        request.requester.map { people(id).contains($0) } ?? !people(id).isEmpty
      } ?? ids.first
    guard let guild else {
      reason = "voice_join_unavailable"
      status = 503
      return
    }
    let known = guilds.first { $0.id == guild }
    let present = people(guild)
    guard let session = sessions.first(where: { $0.text("guildId") == guild }),
      let person = requester ?? present.first, present.contains(person)
    else {
      // Who is in voice is known of sessions alone.
      reason =
        !ids.contains(guild)
        ? "guild_not_found" : requester == nil ? "no_voice_members_found" : "requester_not_in_voice"
      return
    }
    requester = person
    voiceChannel = session.text("voiceChannelId")
    // A channel that is not there is passed over without a word.
    let channels = (known?.textChannels ?? []) + [session.text("textChannelId")].compactMap(\.self)
    textChannel =
      request.channel.flatMap { channels.contains($0) ? $0 : nil }
      ?? session.text("textChannelId") ?? channels.first
    isDone = textChannel != nil
    reason = isDone ? "already_in_channel" : "text_channel_unavailable"
    textChannel = textChannel ?? request.channel
  }

  var json: RecordText {
    let head = RecordText().bool("ok", isDone).string("reason", reason)
    if status == 503 { return head }
    return head.stringOrNull("guildId", guild).stringOrNull("voiceChannelId", voiceChannel)
      .stringOrNull("textChannelId", textChannel).stringOrNull("requesterUserId", requester)
  }

  func action(now: Timestamp) -> LoggedAction? {
    guard isDone else { return nil }
    return LoggedAction(
      createdAt: now.rfc3339, guild: guild, channel: textChannel, user: requester,
      kind: "voice_runtime", content: "dashboard_voice_join",
      metadata: RecordText().string("source", request.source).string("reason", reason)
        .stringOrNull("requestedGuildId", request.guild)
        .stringOrNull("requestedRequesterUserId", request.requester)
        .stringOrNull("requestedTextChannelId", request.channel)
        .stringOrNull("voiceChannelId", voiceChannel).bool("handled", true)
        .bool("joinedTargetChannel", true).text)
  }
}

extension ServedBackend {
  func join(_ object: RequestObject) async throws -> WholeAnswer {
    let state = documents.bytes(.voiceState)
    let outcome = state.withUnsafeBytes { bytes in
      VoiceJoin(
        object.members { VoiceJoin.Request($0) }, guilds: Guilds(documents.bytes(.guilds)).all,
        sessions: ScanObject(bytes)?.objects("sessions") ?? [])
    }
    if let action = outcome.action(now: .now()) { _ = try await log.append([action]) }
    return .json(outcome.json, status: outcome.status)
  }
}
