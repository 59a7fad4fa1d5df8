import Core

/// One prompt whole, as `--prompt` asks for it.
enum PromptFinder {
  /// - Parameter name: one of `StateOptions.prompts`; `system` are the standing instructions.
  static func find(_ name: String, in session: VoiceSession) -> String? {
    let prompts = session.promptState
    let prompt: VoicePrompt? =
      switch name {
      case "system", "instructions": prompts?.instructions
      case "classifier": prompts?.classifier
      case "generation": prompts?.generation
      case "bridge": prompts?.bridge
      default: nil
      }
    guard let prompt else { return nil }
    return ([prompt.systemPrompt, prompt.initialUserPrompt] + prompt.followupUserPrompts)
      .map(\.whole).filter { !$0.isEmpty }.joined(separator: "\n\n")
  }
}
