import Core

/// The prompts that the session's models were last given.
struct VoicePromptState: Sendable {
  let instructions: VoicePrompt?, classifier: VoicePrompt?
  let generation: VoicePrompt?, bridge: VoicePrompt?

  init(_ value: JSONValue) {
    instructions = value.part(VoicePrompt.init, "instructions")
    classifier = value.part(VoicePrompt.init, "classifier")
    generation = value.part(VoicePrompt.init, "generation")
    bridge = value.part(VoicePrompt.init, "bridge")
  }
}

/// One model's prompts. They are private texts: shown only when asked for.
struct VoicePrompt: Sendable {
  let updatedAt: Timestamp?
  let systemPrompt: VoiceText, initialUserPrompt: VoiceText
  let followupUserPrompts: [VoiceText]
  let followupSteps: Int?
  let tools: [VoiceTool]
  /// The parts that the prompt may be made of, and whether each is in it.
  let promptTiers: [Bool]

  init(_ value: JSONValue) {
    updatedAt = value.time("updatedAt")
    let bundle = value["replyPrompts"]
    systemPrompt = VoiceText(bundle?["systemPrompt"])
    initialUserPrompt = VoiceText(bundle?["initialUserPrompt"])
    followupUserPrompts = bundle?["followupUserPrompts"]?.elements.map { VoiceText($0) } ?? []
    followupSteps = bundle?.int("followupSteps")
    tools = bundle?.list(VoiceTool.init, "tools") ?? []
    promptTiers = bundle?.list({ $0.bool("present") == true }, "promptTiers") ?? []
  }

  /// The bytes of UTF-8 of all its texts.
  var byteCount: Int {
    followupUserPrompts.reduce(systemPrompt.byteCount + initialUserPrompt.byteCount) {
      $0 + $1.byteCount
    }
  }
}

/// A text that may be very long, read only as far as it is wanted.
struct VoiceText: Sendable {
  private let value: JSONValue?

  /// - Parameter value: a string; anything else is an empty text.
  init(_ value: JSONValue?) { self.value = value }

  /// The length in bytes of UTF-8, known without reading it.
  var byteCount: Int { value?.byteCount ?? 0 }

  /// Whether there is nothing.
  var isEmpty: Bool { byteCount == 0 }

  /// The whole text.
  var whole: String { value?.string ?? "" }

  /// The beginning, at most so many bytes of UTF-8.
  func beginning(bytes limit: Int) -> String { value?.string(bytes: limit) ?? "" }
}
