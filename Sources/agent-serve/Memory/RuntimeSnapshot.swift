import Core
import GRDB

/// `POST /api/memory/runtime-snapshot` (Agent/Clanky/CONTRACT.md 5.3): what a turn of talk would
/// be told.
struct RuntimeSnapshot: Sendable {
  /// Somebody whom the turn is about.
  private struct Participant {
    let id: String
    let name: String?
    let source: String
  }

  /// Whose session and facts.
  let guild: String
  private let channel: String?
  private let user: String?
  private let text: String
  private let mode: String
  private let asked: [String]
  private let authors: [(id: String, name: String?)]

  /// More people than this are not looked up.
  private static let crowd = 24

  /// - Parameter body: the request's members.
  /// - Throws: `FactRefusal` without a guild.
  init(_ body: ScanObject) throws(FactRefusal) {
    guild = try FactEdit.guild(body)
    func word(_ name: String) -> String? {
      let word = KeptText.folded(body.text(name) ?? "", limit: KeptText.subjectLimit)
      return word.isEmpty ? nil : word
    }
    channel = word("channelId")
    user = word("userId")
    text = KeptText.folded(body.text("queryText") ?? "", limit: 420)
    mode = word("mode") == "voice" ? "voice" : "text"
    let list = body["participantIds"]
    asked =
      list.isArray
      ? Self.texts(list.bytes)
      : (body.text("participantIds") ?? "").split { $0 == "," || $0.isWhitespace }.map(String.init)
    authors = body.objects("recentMessages").compactMap { row in
      guard let id = row.text("authorId"), row.text("content") != nil else { return nil }
      return (id, row.text("authorName"))
    }
  }

  private static func texts(_ bytes: UnsafeRawBufferPointer) -> [String] {
    var texts: [String] = []
    do throws(ScanFault) {
      var elements = try ScanElements(bytes)
      while try elements.next() {
        if let text = elements.value.string, !text.isEmpty { texts.append(text) }
      }
    } catch {
      // No array: nobody is in it.
    }
    return texts
  }

  /// The answer's body.
  ///
  /// - Parameter voice: the session that is up in the guild.
  func json(voice: LoadedMemory?, _ db: Database) throws -> String {
    let people = participants(voice)
    let profiles = try people.map { ($0, try FactProfile.user($0.id, db)) }
    let primary = profiles.filter { $0.0.id == user }.flatMap(\.1)
    let shared = try FactProfile.shared(isPortable: true, db)
    let relevant =
      profiles.filter { $0.0.id != user }.flatMap(\.1) + shared.selves + shared.lore
    let context = try PromptContext(guild: guild, channel: channel, text: text, now: .now(), db)
    let rows = people.map { person in
      """
      {"userId":\(JSONText.quoted(person.id)),"displayName":\(JSONText.quoted(person.name ?? person.id)),\
      "source":"\(person.source)"}
      """
    }
    let parts = profiles.map { person, facts in
      """
      {"userId":\(JSONText.quoted(person.id)),"displayName":\(JSONText.quoted(person.name ?? person.id)),\
      "isPrimary":\(person.id == user),"facts":\(facts.profiles)}
      """
    }
    return """
      {"guildId":\(JSONText.quoted(guild)),"channelId":\(JSONText.quoted(channel)),\
      "userId":\(JSONText.quoted(user)),"queryText":\(JSONText.quoted(text)),"mode":"\(mode)",\
      "participants":[\(rows.joined(separator: ","))],\
      "counts":{"participantCount":\(people.count),"participantProfileCount":\(profiles.count),\
      "userFactCount":\(primary.count),"relevantFactCount":\(relevant.count),\
      "selfFactCount":\(shared.selves.count),"loreFactCount":\(shared.lore.count),\
      "guidanceFactCount":\(shared.guidance.count),\
      "behavioralFactCount":\(shared.behavioral.count),\
      "conversationWindowCount":\(context.windowCount),\
      "recentVoiceSessionCount":\(context.recapCount)},\
      "slice":{"participantProfiles":[\(parts.joined(separator: ","))],\
      "userFacts":\(primary.profiles),"relevantFacts":\(relevant.profiles),\
      "selfFacts":\(shared.selves.profiles),"loreFacts":\(shared.lore.profiles),\
      "guidanceFacts":\(shared.guidance.profiles),\
      "behavioralFacts":\(shared.behavioral.profiles)},\
      "promptContext":\(context.json),"activeVoiceSession":\(voice?.json(user: user) ?? "null")}
      """
  }

  /// Everybody once, who was named first; a turn of voice talk is about everybody who
  /// hears it.
  private func participants(_ session: LoadedMemory?) -> [Participant] {
    let voice = mode == "voice" ? session : nil
    var seen: Set<String> = []
    var people: [Participant] = []
    func add(_ id: String, _ name: String?, _ source: String) {
      guard people.count < Self.crowd, seen.insert(id).inserted else { return }
      people.append(Participant(id: id, name: name ?? voice?.name(of: id), source: source))
    }
    func name(_ id: String) -> String? { authors.first { $0.id == id }?.name }
    if let user { add(user, name(user), "primary_user") }
    for id in asked { add(id, name(id), "request") }
    for author in authors { add(author.id, author.name, "recent_message") }
    for person in voice?.participants ?? [] { add(person.id, person.name, "active_voice_session") }
    return people
  }
}
