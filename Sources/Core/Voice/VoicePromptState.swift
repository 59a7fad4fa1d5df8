/// The prompts that the session's models were last given.
public struct VoicePromptState: Sendable {
  public let instructions: VoicePrompt?, classifier: VoicePrompt?
  public let generation: VoicePrompt?, bridge: VoicePrompt?

  init(_ value: JSONValue) {
    instructions = value.part(VoicePrompt.init, "instructions")
    classifier = value.part(VoicePrompt.init, "classifier")
    generation = value.part(VoicePrompt.init, "generation")
    bridge = value.part(VoicePrompt.init, "bridge")
  }
}

/// One model's prompts. They are private texts: shown only when asked for.
public struct VoicePrompt: Sendable {
  public let updatedAt: Timestamp?
  public let source: String?
  public let systemPrompt: VoiceText, initialUserPrompt: VoiceText
  public let followupUserPrompts: [VoiceText]
  public let followupSteps: Int?
  public let tools: [VoiceTool]
  public let promptTiers: [VoicePromptTier]

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
  public var byteCount: Int {
    followupUserPrompts.reduce(systemPrompt.byteCount + initialUserPrompt.byteCount) {
      $0 + $1.byteCount
    }
  }
}

/// A part that a prompt is made of.
public struct VoicePromptTier: Sendable {
  public let key: String?, label: String?
  public let present: Bool?
  public let sources: [String]
  /// Any object of counts.
  public let details: JSONValue?

  init(_ value: JSONValue) {
    key = value.text("key")
    label = value.text("label")
    present = value.bool("present")
    sources = value.texts("sources")
    details = value["details"].flatMap { $0.isObject ? $0 : nil }
  }
}
