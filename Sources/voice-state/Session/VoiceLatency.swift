import Core

/// How long answers took, stage by stage.
struct VoiceLatency: Sendable {
  /// The stages of an answer and their sum. Milliseconds; nil where the server
  /// could not tell.
  struct Stages: Sendable {
    /// The members, in the order of the stages; the total comes last.
    static let names = [
      "finalizedToAsrStartMs", "asrToGenerationStartMs", "generationToReplyRequestMs",
      "replyRequestToAudioStartMs", "totalMs",
    ]

    /// The four stages and the total, in this order.
    var all: [Double?] = names.map { _ in nil }

    /// The sum of the stages.
    var totalMs: Double? { all[4] }

    /// Whether no stage is known.
    var isUnknown: Bool { all.allSatisfy { $0 == nil } }
  }

  /// One answer.
  struct Turn: Sendable {
    var at: Timestamp?
    var stages = Stages()
  }

  /// Newest first.
  var recentTurns: [Turn] = []
  var averages = Stages()

  /// The median of each stage over the recent turns, in the order of
  /// `Stages.all`; nil where no turn has the stage.
  var medians: [Double?] {
    let turns = recentTurns.map(\.stages.all)
    return Stages.names.indices.map { stage in
      let known = turns.compactMap { $0[stage] }.sorted()
      guard !known.isEmpty else { return nil }
      let middle = known.count / 2
      return known.count % 2 == 1 ? known[middle] : (known[middle - 1] + known[middle]) / 2
    }
  }
}

extension VoiceLatency {
  init(_ value: JSONValue) {
    recentTurns = value.list(
      { Turn(at: $0.time("at"), stages: Stages($0)) }, "recentTurns")
    averages = value["averages"].map { Stages($0) } ?? Stages()
  }
}

extension VoiceLatency.Stages {
  init(_ value: JSONValue) {
    all = Self.names.map { name in
      // No answer takes less than no time, or years.
      guard let time = value.double(name), time >= 0, time < 1e11 else { return nil }
      return time
    }
  }

  /// Takes the stages that are known of the same answer by now; the total is
  /// their sum.
  mutating func add(_ other: VoiceLatency.Stages) {
    for stage in 0..<4 { all[stage] = other.all[stage] ?? all[stage] }
    let known = all[..<4].compactMap { $0 }
    all[4] = known.isEmpty ? nil : known.reduce(0, +)
  }

  /// The averages of answers, in whole milliseconds.
  init(averageOf turns: [VoiceLatency.Turn]) {
    all = Self.names.indices.map { stage in
      let known = turns.compactMap { $0.stages.all[stage] }
      return known.isEmpty ? nil : (known.reduce(0, +) / Double(known.count)).rounded()
    }
  }
}
