import Core

extension VoiceGenerationContext {
  init(_ value: JSONValue) {
    capturedAt = value.time("capturedAt")
    source = value.text("source")
    mode = value.text("mode")
    incomingTranscript = value.text("incomingTranscript")
    speakerName = value.text("speakerName")
    directAddressed = value.bool("directAddressed")
    isEagerTurn = value.bool("isEagerTurn")
    contextMessages = value.list(
      { $0.text("content")?.utf8.count ?? 0 }, "contextMessages")
    conversationContext = value.part(VoiceTalkContext.init, "conversationContext")
    participantRoster = value.texts("participantRoster")
    membershipEvents = value.list(VoiceMembershipEvent.init, "membershipEvents")
    // Beside the session's own turn, the facts lie one level higher.
    memoryFacts = VoiceFacts(value["memoryFacts"] ?? value)
    durableNotes = value.objects("durableContext")
    sessionTiming = value.part(VoiceTiming.init, "sessionTiming")
    tools =
      value["tools"]?.members.prefix(100).compactMap { member in
        member.value.bool.map { (member.name, $0) }
      } ?? []
    soundboardCandidateCount = value.int("soundboardCandidateCount")
    activityReactivity = value.int("activityReactivity")
    soundboardEagerness = value.int("soundboardEagerness")
    llmConfig = value.part(VoiceModelConfig.init, "llmConfig")
  }
}

extension VoiceTalkContext {
  init(_ value: JSONValue) {
    attentionMode = value.text("attentionMode")
    streamWatchNotes = value.texts("streamWatchNotes")
    talkingTo = value["addressing"]?.text("talkingTo")
    confidence = value["addressing"]?.double("confidence", "directedConfidence")
  }
}

/// Milliseconds or seconds.
extension VoiceTiming {
  init(_ value: JSONValue) {
    timeoutWarningActive = value.bool("timeoutWarningActive")
    timeoutWarningReason = value.text("timeoutWarningReason")
    maxRemainingMs =
      value.double("maxRemainingMs") ?? value.double("maxSecondsRemaining").map { $0 * 1000 }
    inactivityRemainingMs =
      value.double("inactivityRemainingMs")
      ?? value.double("inactivitySecondsRemaining").map { $0 * 1000 }
  }
}

extension VoiceModelConfig {
  init(_ value: JSONValue) {
    provider = value.text("provider")
    model = value.text("model")
    temperature = value.double("temperature")
    maxOutputTokens = value.int("maxOutputTokens")
  }
}

extension VoiceMemory {
  init(_ value: JSONValue) {
    let profiles = value.list({ $0.objects("userFacts") }, "factProfiles")
    people = profiles.count
    userFacts = profiles.reduce(0, +)
    selfFacts = value["guildFactProfile"]?.objects("selfFacts") ?? 0
    loreFacts = value["guildFactProfile"]?.objects("loreFacts") ?? 0
  }
}

extension VoiceFacts {
  init(_ value: JSONValue) {
    userFacts = value.objects("userFacts")
    relevantFacts = value.objects("relevantFacts")
    guidanceFacts = value.objects("guidanceFacts")
    behavioralFacts = value.objects("behavioralFacts")
  }
}

extension VoicePromptState {
  init(_ value: JSONValue) {
    instructions = value.part(VoicePrompt.init, "instructions")
    classifier = value.part(VoicePrompt.init, "classifier")
    generation = value.part(VoicePrompt.init, "generation")
    bridge = value.part(VoicePrompt.init, "bridge")
  }
}

extension VoicePrompt {
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
}
