import Core

/// Which prompt `--prompt` asks for.
struct PromptName: Equatable {
  /// As it was asked for.
  let word: String
  let name: PromptText.Name

  /// What may be asked for: `system` are the standing instructions.
  static var all: [String] {
    ["system"] + PromptText.Name.allCases.map(\.rawValue)
  }

  /// - Returns: nil for a word that names no prompt.
  init?(_ word: String) {
    guard let name = word == "system" ? .instructions : PromptText.Name(rawValue: word) else {
      return nil
    }
    self.word = word
    self.name = name
  }

  /// The prompt of a session, nil when it has none.
  func text(of session: VoiceSession) -> String? { PromptText.whole(name, of: session) }
}
