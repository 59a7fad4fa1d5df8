import Core

/// What a voice session that is up has loaded of the memory (Agent/Clanky/CONTRACT.md 5.3).
///
/// Valid as long as the bytes of the voice state are.
struct LoadedMemory {
  /// Somebody in a session.
  struct Person {
    let id: String
    let name: String?
  }

  private let session: ScanObject
  /// Who is there.
  let participants: [Person]

  /// - Parameters:
  ///   - state: passed `Document.check`.
  ///   - guild: whose session; nil when none is up there.
  init?(_ state: UnsafeRawBufferPointer, guild: String) {
    let sessions = ScanObject(state)?.objects("sessions") ?? []
    guard let session = sessions.first(where: { $0.text("guildId") == guild }) else { return nil }
    self.session = session
    participants = session.objects("participants").compactMap { row in
      row.text("userId").map { Person(id: $0, name: row.text("displayName")) }
    }
  }

  /// The name of somebody whom the session knows.
  func name(of user: String) -> String? {
    participants.first { $0.id == user }?.name
      ?? profiles.first { $0.text("userId") == user }?.text("displayName")
  }

  /// `activeVoiceSession`.
  ///
  /// - Parameter user: whose profile is wanted whole.
  func json(user: String?) -> String {
    let people = participants.map { person in
      """
      {"userId":\(JSONText.quoted(person.id)),"displayName":\(JSONText.quoted(person.name))}
      """
    }
    let cached = profiles.map { "{\(Self.head($0))}" }
    let mine = profiles.first { user != nil && $0.text("userId") == user }.map { profile in
      """
      {\(Self.head(profile)),"userFacts":\(Self.facts(profile, "userFacts")),\
      "guidanceFacts":\(Self.facts(profile, "guidanceFacts"))}
      """
    }
    return """
      {"sessionId":\(JSONText.quoted(session.text("sessionId"))),\
      "voiceChannelId":\(JSONText.quoted(session.text("voiceChannelId"))),\
      "textChannelId":\(JSONText.quoted(session.text("textChannelId"))),\
      "participantCount":\(participants.count),"participants":[\(people.joined(separator: ","))],\
      "cachedUsers":[\(cached.joined(separator: ","))],"userFactProfile":\(mine ?? "null"),\
      "guildFactProfile":\(guildProfile)}
      """
  }

  private var memory: ScanObject { ScanObject(session["memory"].bytes) ?? ScanObject() }
  private var profiles: [ScanObject] { memory.objects("factProfiles") }

  private var guildProfile: String {
    guard let profile = ScanObject(memory["guildFactProfile"].bytes) else { return "null" }
    return """
      {"loadedAt":\(JSONText.quoted(profile.text("loadedAt"))),\
      "selfFacts":\(Self.facts(profile, "selfFacts")),\
      "loreFacts":\(Self.facts(profile, "loreFacts")),\
      "guidanceFacts":\(Self.facts(profile, "guidanceFacts"))}
      """
  }

  private static func head(_ profile: ScanObject) -> String {
    """
    "userId":\(JSONText.quoted(profile.text("userId") ?? "")),\
    "displayName":\(JSONText.quoted(profile.text("displayName"))),\
    "loadedAt":\(JSONText.quoted(profile.text("loadedAt"))),\
    "factCount":\(profile.objects("userFacts").count)
    """
  }

  /// Facts as the session loaded them, in the form of profiles.
  private static func facts(_ profile: ScanObject, _ name: String) -> String {
    let rows = profile.objects(name).map { row in
      """
      {"id":\(row.json("id")),"scope":null,"userId":null,\
      "subject":\(JSONText.quoted(row.text("subject"))),\
      "factType":\(JSONText.quoted(row.text("factType"))),\
      "fact":\(JSONText.quoted(row.text("fact") ?? "")),"confidence":\(row.json("confidence")),\
      "metadata":{"createdAt":\(JSONText.quoted(row.text("createdAt"))),\
      "updatedAt":\(JSONText.quoted(row.text("updatedAt"))),\
      "guildId":\(JSONText.quoted(row.text("guildId"))),\
      "channelId":\(JSONText.quoted(row.text("channelId"))),\
      "evidenceText":\(JSONText.quoted(row.text("evidenceText"))),\
      "sourceMessageId":\(JSONText.quoted(row.text("sourceMessageId"))),"isLegacy":false}}
      """
    }
    return "[\(rows.joined(separator: ","))]"
  }
}
