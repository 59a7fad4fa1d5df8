import Core

/// How much of the talk the models were given.
struct VoiceModelContext: Sendable {
  /// One model's share.
  struct Share: Sendable {
    let source: String?
    let capturedAt: Timestamp?
    /// Turns that there were, that were sent, that may be sent.
    let availableTurns: Int?, sentTurns: Int?, maxTurns: Int?
    let contextChars: Int?, transcriptChars: Int?
    /// Of the decider only.
    let promptHistoryChars: Int?
    let directAddressed: Bool?

    init(_ value: JSONValue) {
      source = value.text("source")
      capturedAt = value.time("capturedAt")
      availableTurns = value.int("availableTurns")
      sentTurns = value.int("sentTurns")
      maxTurns = value.int("maxTurns")
      contextChars = value.int("contextChars")
      transcriptChars = value.int("transcriptChars")
      promptHistoryChars = value.int("promptHistoryChars")
      directAddressed = value.bool("directAddressed")
    }
  }

  let generation: Share?, decider: Share?
  let trackedTurns: Int?, trackedTurnLimit: Int?, trackedTranscriptTurns: Int?

  init(_ value: JSONValue) {
    generation = value.part(Share.init, "generation")
    decider = value.part(Share.init, "decider")
    trackedTurns = value.int("trackedTurns")
    trackedTurnLimit = value.int("trackedTurnLimit")
    trackedTranscriptTurns = value.int("trackedTranscriptTurns")
  }
}
