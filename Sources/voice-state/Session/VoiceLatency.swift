import Core

/// How long answers took, stage by stage.
struct VoiceLatency: Sendable {
  /// The stages of an answer, in their order, and their sum. Milliseconds; nil
  /// where the server could not tell.
  struct Stages: Sendable {
    let finalizedToAsrStartMs: Double?, asrToGenerationStartMs: Double?
    let generationToReplyRequestMs: Double?, replyRequestToAudioStartMs: Double?
    let totalMs: Double?

    init(_ value: JSONValue?) {
      // No answer takes less than no time, or years.
      func stage(_ name: String) -> Double? {
        guard let time = value?.double(name), time >= 0, time < 1e11 else { return nil }
        return time
      }
      finalizedToAsrStartMs = stage("finalizedToAsrStartMs")
      asrToGenerationStartMs = stage("asrToGenerationStartMs")
      generationToReplyRequestMs = stage("generationToReplyRequestMs")
      replyRequestToAudioStartMs = stage("replyRequestToAudioStartMs")
      totalMs = stage("totalMs")
    }

    /// Whether no stage is known.
    var isUnknown: Bool { all.allSatisfy { $0 == nil } }

    /// The four stages and the total, in this order.
    var all: [Double?] {
      [
        finalizedToAsrStartMs, asrToGenerationStartMs, generationToReplyRequestMs,
        replyRequestToAudioStartMs, totalMs,
      ]
    }
  }

  /// One answer.
  struct Turn: Sendable {
    let at: Timestamp?
    let stages: Stages
    let queueWaitMs: Double?
    let pendingQueueDepth: Int?

    init(_ value: JSONValue) {
      at = value.time("at")
      stages = Stages(value)
      queueWaitMs = value.double("queueWaitMs")
      pendingQueueDepth = value.int("pendingQueueDepth")
    }
  }

  /// Newest first.
  let recentTurns: [Turn]
  let averages: Stages
  /// How many answers the averages are of.
  let turnCount: Int?

  init(_ value: JSONValue) {
    recentTurns = value.list(Turn.init, "recentTurns")
    averages = Stages(value["averages"])
    turnCount = value.int("turnCount")
  }

  /// The median of each stage over the recent turns, in the order of
  /// `Stages.all`; nil where no turn has the stage.
  var medians: [Double?] {
    let turns = recentTurns.map(\.stages.all)
    return (0..<5).map { stage in
      let known = turns.compactMap { $0[stage] }.sorted()
      guard !known.isEmpty else { return nil }
      let middle = known.count / 2
      return known.count % 2 == 1 ? known[middle] : (known[middle - 1] + known[middle]) / 2
    }
  }
}
