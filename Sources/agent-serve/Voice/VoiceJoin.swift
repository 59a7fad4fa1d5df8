import Core

/// `POST /api/voice/join` (contract, 6), answered with what the agent told:
/// there is no Discord here, and nobody joins anything.
struct VoiceJoin: Equatable {
  /// What a request asks for; empty texts are nil.
  struct Request {
    var guild: String?
    var requester: String?
    var channel: String?
    var source = "dashboard_voice_tab"

    /// - Parameter body: a JSON object; anything else asks for nothing.
    init(_ body: UnsafeRawBufferPointer) {
      guard let object = ScanObject(body) else { return }
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

  /// - Parameters:
  ///   - request: what is asked for.
  ///   - guilds: the ids of the agent's guilds.
  ///   - sessions: its voice sessions.
  init(_ request: Request, guilds: [String], sessions: [ScanObject]) {
    requester = request.requester
    func session(_ guild: String?) -> ScanObject? {
      sessions.first { guild == nil || $0.text("guildId") == guild }
    }
    guild = request.guild ?? session(nil)?.text("guildId") ?? guilds.first
    guard let guild else {
      reason = "voice_join_unavailable"
      status = 503
      return
    }
    guard let session = session(guild) else {
      // Who is in voice is known of sessions alone.
      reason =
        !guilds.contains(guild)
        ? "guild_not_found" : requester == nil ? "no_voice_members_found" : "requester_not_in_voice"
      return
    }
    let people = session.objects("participants").compactMap { $0.text("userId") }
    if let requester, !people.contains(requester) {
      reason = "requester_not_in_voice"
      return
    }
    isDone = true
    reason = "already_in_channel"
    voiceChannel = session.text("voiceChannelId")
    textChannel = request.channel ?? session.text("textChannelId")
    requester = requester ?? people.first
  }

  /// The answer's body.
  var json: String {
    if status == 503 { return "{\"ok\":false,\"reason\":\"\(reason)\"}" }
    return """
      {"ok":\(isDone),"reason":"\(reason)","guildId":\(JSONText.quoted(guild)),\
      "voiceChannelId":\(JSONText.quoted(voiceChannel)),\
      "textChannelId":\(JSONText.quoted(textChannel)),\
      "requesterUserId":\(JSONText.quoted(requester))}
      """
  }

  /// The action that tells of it, as the dashboard logs one.
  func action(source: String, now: Timestamp) -> LoggedAction {
    LoggedAction(
      createdAt: now.rfc3339, guild: guild, channel: textChannel, user: requester,
      kind: "voice_runtime", content: "dashboard_voice_join",
      metadata: "{\"source\":\(JSONText.quoted(source)),\"ok\":\(isDone),\"reason\":\"\(reason)\"}")
  }
}

extension Backend {
  /// Answers a wish to join.
  ///
  /// - Returns: 200 also for a refusal, 503 when no agent told anything, 400
  ///   for a body that says it is JSON and is not.
  func join(_ body: [UInt8], type: String) async throws -> Answer {
    let isJSON = type.lowercased().contains("application/json")
    if isJSON && !body.isEmpty && !body.withUnsafeBytes(ScanValidator.isValue) {
      return .error("invalid_json_body", status: 400)
    }
    // A body of another type is not read, see the contract, 1.2.
    let request = (isJSON ? body : []).withUnsafeBytes { VoiceJoin.Request($0) }
    let state = documents.bytes(.voiceState)
    let outcome = state.withUnsafeBytes { bytes in
      VoiceJoin(
        request, guilds: Guilds(documents.bytes(.guilds)).all.map(\.id),
        sessions: ScanObject(bytes)?.objects("sessions") ?? [])
    }
    if outcome.status == 200 {
      _ = try await log.append([outcome.action(source: request.source, now: .now())])
    }
    return .json(outcome.json, status: outcome.status)
  }
}
