import Core
import Records

/// The people of the feed by id, learnt from what passes: voice sessions list
/// their participants, and some voice events name the speaker.
struct Names {
  /// Names that are kept at most; what comes later stays an id.
  private static let most = 4096
  private var known: [String: String] = [:]

  /// The name of a user id, nil when it was never told.
  subscript(id: String) -> String? { known[id] }

  /// Learns from a voice state, on its own or inside the stats.
  ///
  /// - Parameter record: one record of the feed, bare or wrapped.
  mutating func learn(from record: JSONValue) {
    let payload = record["data"] ?? record
    learn(sessions: payload["sessions"])
    learn(sessions: payload["runtime"]?["voice"]?["sessions"])
    learn(sessions: payload["stats"]?["runtime"]?["voice"]?["sessions"])
  }

  /// Learns from an action that names its user.
  mutating func learn(from action: Action) {
    guard action.domain == .voice, action.word("transcriptSource") != "output" else { return }
    keep(action.word("memberUserId") ?? action.user, action.word("speakerName", "displayName"))
  }

  private mutating func learn(sessions: JSONValue?) {
    for session in sessions?.elements ?? [] {
      for person in session["participants"]?.elements ?? [] {
        keep(person["userId"]?.text, person["displayName"]?.string)
      }
    }
  }

  private mutating func keep(_ id: String?, _ name: String?) {
    guard let id, let name, !id.isEmpty, !name.isEmpty else { return }
    if known[id] != nil || known.count < Self.most { known[id] = name }
  }
}
