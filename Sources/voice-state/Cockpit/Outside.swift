import Core
import Screen

/// Text from outside on its way to the screen, and what panels say in its place.
enum Outside {
  /// The scalars of one text that are looked at: more than a line can show.
  static let most = 512

  /// A text as one line without controls; nil and blank texts are nil.
  static func text(_ text: String?) -> String? {
    guard let text else { return nil }
    let line = Plain.line(text, limit: most)
    return line.isEmpty ? nil : line
  }

  /// A text or what stands for none.
  static func text(_ text: String?, or other: String) -> String { self.text(text) ?? other }

  /// A name of the wire as words: `wake_word` is `wake word`.
  static func words(_ name: String) -> String {
    String(Plain.line(name, limit: 80).map { $0 == "_" ? " " : $0 })
  }

  /// A name of the wire as words; nil and blank names are nil.
  static func words(_ name: String?) -> String? {
    text(name).map { String($0.map { $0 == "_" ? " " : $0 }) }
  }

  /// A person's name; without one the first digits of the id, as the dashboard
  /// does; without both `someone`.
  static func person(_ name: String?, _ userId: String?) -> String {
    text(name) ?? text(userId).map { String($0.prefix(8)) } ?? "someone"
  }

  /// The name of a person that the session only has an id for; nil without one.
  static func person(_ userId: String?, in session: VoiceSession) -> String? {
    guard let userId else { return nil }
    return person(session.name(of: userId), userId)
  }

  /// An object or another value on one line: `query: tides, limit: 5`.
  ///
  /// - Parameters:
  ///   - value: nil and null are nil.
  ///   - unwraps: whether an only member is shown without its name.
  static func value(_ value: JSONValue?, unwraps: Bool = false) -> String? {
    guard let value, !value.isNull else { return nil }
    return text(Brief.text(value, limit: most, unwraps: unwraps))
  }

  /// The last name the bot was seen under; `agent` when it was not yet heard.
  static func bot(in session: VoiceSession) -> String {
    let turn = session.recentTurns.last {
      $0.role == "assistant" && $0.kind ?? "speech" == "speech" && text($0.speakerName) != nil
    }
    return text(turn?.speakerName, or: "agent")
  }
}
