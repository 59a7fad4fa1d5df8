import Core

/// Which facts are wanted, as far as the backend is not asked for it.
struct FactFilter {
  /// In lower case; empty for all.
  var types: [String] = []
  var subject: String?
  var minScore: Double?
  /// Each must be somewhere in the fact; in lower case.
  var texts: [String] = []

  /// Whether everything passes.
  var isOpen: Bool { types.isEmpty && subject == nil && minScore == nil && texts.isEmpty }

  /// Whether a fact is wanted.
  func passes(_ fact: Fact) -> Bool {
    if !types.isEmpty, !types.contains(fact.type.lowercased()) { return false }
    if let subject, fact.subject != subject { return false }
    if let minScore, !(fact.score.map { $0 >= minScore } ?? false) { return false }
    if texts.isEmpty { return true }
    let places = [
      fact.fact, fact.subject, fact.type, fact.evidence, fact.sourceMessageID, fact.channelID,
    ].compactMap { $0?.lowercased() }
    return texts.allSatisfy { text in places.contains { $0.holds(text) } }
  }

  /// The records that are wanted; what is no fact passes when nothing is asked.
  func wanted(_ rows: [[UInt8]]) -> [[UInt8]] {
    if isOpen { return rows }
    return rows.filter { row in Fact(record: row).map(passes) ?? false }
  }
}
