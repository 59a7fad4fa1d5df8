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
  let source: String?
  let systemPrompt: VoiceText, initialUserPrompt: VoiceText
  let followupUserPrompts: [VoiceText]
  let followupSteps: Int?
  let tools: [VoiceTool]
  let promptTiers: [VoicePromptTier]

  init(_ value: JSONValue) {
    updatedAt = value.time("updatedAt")
    source = value.text("source")
    let bundle = value["replyPrompts"]
    systemPrompt = VoiceText(bundle?["systemPrompt"])
    initialUserPrompt = VoiceText(bundle?["initialUserPrompt"])
    followupUserPrompts = bundle?["followupUserPrompts"]?.elements.map { VoiceText($0) } ?? []
    followupSteps = bundle?.int("followupSteps")
    tools = bundle?.list(VoiceTool.init, "tools") ?? []
    promptTiers = bundle?.list(VoicePromptTier.init, "promptTiers") ?? []
  }

  /// The bytes of UTF-8 of all its texts.
  var byteCount: Int {
    followupUserPrompts.reduce(systemPrompt.byteCount + initialUserPrompt.byteCount) {
      $0 + $1.byteCount
    }
  }
}

/// A part that a prompt is made of.
struct VoicePromptTier: Sendable {
  let key: String?, label: String?
  let present: Bool?
  let sources: [String]
  /// Any object of counts.
  let details: JSONValue?

  init(_ value: JSONValue) {
    key = value.text("key")
    label = value.text("label")
    present = value.bool("present")
    sources = value.texts("sources")
    details = value["details"].flatMap { $0.isObject ? $0 : nil }
  }
}
