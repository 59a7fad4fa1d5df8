import Core
import Records

/// A conversation that an action is to belong to: `--thread ID`. That of a channel is
/// known by the channel's id, that of a session, as one of voice, by the `sessionId` in
/// the metadata.
struct ThreadTest: Equatable {
  private let id: IDTest

  static let session = JSONPointer(member: "sessionId")

  init(_ text: String) { id = IDTest(text) }

  /// What an action's conversation is known by.
  static func id(of fields: ActionFields) -> ScanValue {
    fields.channel.isNull ? session.resolve(fields.metadata) : fields.channel
  }

  /// Whether an action is of one of the conversations; the metadata is walked once, and
  /// only where the channel does not tell.
  static func matches(
    _ tests: [ThreadTest], _ fields: ActionFields, _ scratch: ScanScratch
  ) -> Bool {
    if tests.contains(where: { $0.id.matches(fields.channel, scratch) }) { return true }
    guard fields.metadata.isObject else { return false }
    let session = session.resolve(fields.metadata)
    return tests.contains { $0.id.matches(session, scratch) }
  }

  /// What every line of the conversation has one of; nil for ids with many spellings.
  var literals: [LiteralSearch.Needle]? { id.literals }
}
