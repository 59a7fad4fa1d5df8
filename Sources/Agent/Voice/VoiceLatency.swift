package import Core

/// How long answers took, stage by stage.
package struct VoiceLatency: Sendable {
  /// The stages of an answer and their sum. Milliseconds; nil where the server
  /// could not tell.
  package struct Stages: Sendable {
    /// From the last word to its recognition, to the thinking, to the question to the
    /// provider, to the sound; and the total, in this order.
    package var all = [Double?](repeating: nil, count: 5)

    /// Nothing known.
    package init() {}

    /// The sum of the stages.
    package var totalMs: Double? { all[4] }

    /// Whether no stage is known.
    package var isUnknown: Bool { all.allSatisfy { $0 == nil } }
  }

  /// One answer.
  package struct Turn: Sendable {
    package var at: Timestamp?
    package var stages = Stages()

    /// Nothing known.
    package init() {}
  }

  /// Newest first.
  package var recentTurns: [Turn] = []
  package var averages = Stages()

  /// No answer yet.
  package init() {}

  /// The median of each stage over the recent turns, in the order of
  /// `Stages.all`; nil where no turn has the stage.
  package var medians: [Double?] {
    let turns = recentTurns.map(\.stages.all)
    return averages.all.indices.map { stage in
      let known = turns.compactMap { $0[stage] }.sorted()
      guard !known.isEmpty else { return nil }
      let middle = known.count / 2
      return known.count % 2 == 1 ? known[middle] : (known[middle - 1] + known[middle]) / 2
    }
  }
}

extension VoiceLatency.Stages {
  /// Takes the stages that are known of the same answer by now; the total is
  /// their sum.
  package mutating func add(_ other: VoiceLatency.Stages) {
    for stage in 0..<4 { all[stage] = other.all[stage] ?? all[stage] }
    let known = all[..<4].compactMap { $0 }
    all[4] = known.isEmpty ? nil : known.reduce(0, +)
  }

  /// The averages of answers, in whole milliseconds.
  package init(averageOf turns: [VoiceLatency.Turn]) {
    for stage in all.indices {
      let known = turns.compactMap { $0.stages.all[stage] }
      all[stage] = known.isEmpty ? nil : (known.reduce(0, +) / Double(known.count)).rounded()
    }
  }
}
