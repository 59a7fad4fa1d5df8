import Core

extension VoiceLatency {
  init(_ value: JSONValue) {
    recentTurns = value.list(Turn.init, "recentTurns")
    averages = value["averages"].map { Stages($0) } ?? Stages()
  }
}

extension VoiceLatency.Turn {
  init(_ value: JSONValue) {
    at = value.time("at")
    stages = VoiceLatency.Stages(value)
  }
}

extension VoiceLatency.Stages {
  /// In the order of the stages; the total comes last.
  private static let members = [
    "finalizedToAsrStartMs", "asrToGenerationStartMs", "generationToReplyRequestMs",
    "replyRequestToAudioStartMs", "totalMs",
  ]

  init(_ value: JSONValue) {
    all = Self.members.map { name in
      // No answer takes less than no time, or years.
      guard let time = value.double(name), time >= 0, time < 1e11 else { return nil }
      return time
    }
  }
}
