import Core
import Screen

/// One prompt whole, as `--prompt` prints it.
enum PromptText {
  /// The prompts of a session, in the order in which a turn meets them.
  enum Name: String, CaseIterable, Sendable {
    /// The standing instructions of a realtime session.
    case instructions
    /// Whether a turn is meant for the bot.
    case classifier
    /// The answer.
    case generation
    /// What is passed on to a provider that answers by itself.
    case bridge
  }

  /// A session's prompt, nil when it has none of that name.
  static func prompt(_ name: Name, of session: VoiceSession) -> VoicePrompt? {
    switch name {
    case .instructions: session.promptState?.instructions
    case .classifier: session.promptState?.classifier
    case .generation: session.promptState?.generation
    case .bridge: session.promptState?.bridge
    }
  }

  /// All texts of a prompt as they were sent, each below a line with its name and
  /// size, ending with a line end; tools by name and description.
  ///
  /// The text is raw: for a terminal it must go through `Plain.lines`.
  ///
  /// - Parameters:
  ///   - name: which prompt.
  ///   - session: whose.
  /// - Returns: nil when the session has no prompt of that name.
  static func whole(_ name: Name, of session: VoiceSession) -> String? {
    guard let prompt = prompt(name, of: session) else { return nil }
    var out = ""
    func section(_ title: String, _ text: VoiceText) {
      guard !text.isEmpty else { return }
      let whole = text.whole
      out += "== \(title) (\(Amount.bytes(text.byteCount)))\n\(whole)"
      if !whole.hasSuffix("\n") { out += "\n" }
    }
    section("system", prompt.systemPrompt)
    section("user", prompt.initialUserPrompt)
    for (index, text) in prompt.followupUserPrompts.enumerated() {
      section("follow-up \(index + 1)", text)
    }
    if !prompt.tools.isEmpty {
      out += "== tools (\(prompt.tools.count))\n"
      for tool in prompt.tools {
        out += tool.name ?? "(no name)"
        if let description = tool.description { out += ": \(description)" }
        out += "\n"
      }
    }
    return out
  }
}
