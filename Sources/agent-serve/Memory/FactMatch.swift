import Core

/// A fact that was found, and how well it fits.
struct FactMatch: Sendable {
  /// What was found.
  let fact: StoredFact
  /// 0 to 1: what results are ordered by.
  var score = 0.0
  /// 0 to 1: the cosine of its vector with the query's.
  var semantic = 0.0
  /// 0 to 1: how much of the query its words are.
  var lexical = 0.0

  /// - Parameters:
  ///   - fact: what was found.
  ///   - lexical: 0 to 1.
  init(fact: StoredFact, lexical: Double = 0) {
    self.fact = fact
    self.lexical = lexical
  }

  /// What speaks for a fact beside the text, 0 to 0.25: the agent is sure of it,
  /// it is fresh, it belongs to the channel.
  func standing(in channel: String?, now: Timestamp) -> Double {
    let days = Timestamp(rfc3339: fact.updatedAt).map { Double(now.seconds - $0.seconds) / 86400 }
    let age = max(days ?? 365, 0)
    let isHere = channel != nil && fact.channel == channel
    // Half of it after a month and a half.
    return 0.1 * fact.confidence + 0.1 / (1 + age.rounded(.down) / 45) + (isHere ? 0.05 : 0)
  }

  /// The order of results.
  func precedes(_ other: FactMatch) -> Bool {
    if score != other.score { return score > other.score }
    if fact.updatedAt != other.fact.updatedAt { return fact.updatedAt > other.fact.updatedAt }
    return fact.id < other.fact.id
  }

  /// A row of the answer.
  var json: String {
    func number(_ value: Double) -> String { JSONText.number((value * 1e6).rounded() / 1e6) }
    return """
      {\(fact.members),"score":\(number(score)),"semanticScore":\(number(semantic)),\
      "lexicalScore":\(number(lexical))}
      """
  }

  /// Fuses two rankings by reciprocal rank (Cormack, Clarke, Büttcher: Reciprocal
  /// Rank Fusion outperforms Condorcet, SIGIR 2009, with their k of 60): a fact
  /// counts for what place it has in each, whatever the scales.
  ///
  /// - Parameters:
  ///   - lexical: by words, the best first.
  ///   - semantic: by vectors, the best first.
  /// - Returns: by their joint score, 1 for what is first in both.
  static func fused(_ lexical: [FactMatch], _ semantic: [FactMatch]) -> [FactMatch] {
    var found: [Int64: FactMatch] = [:]
    var scores: [Int64: Double] = [:]
    for list in [lexical, semantic] {
      for (place, match) in list.enumerated() {
        var joint = found[match.fact.id] ?? match
        joint.lexical = max(joint.lexical, match.lexical)
        joint.semantic = max(joint.semantic, match.semantic)
        found[match.fact.id] = joint
        scores[match.fact.id, default: 0] += 61 / Double(61 + place) / 2
      }
    }
    return found.values.map { match in
      var match = match
      match.score = scores[match.fact.id] ?? 0
      return match
    }.sorted { $0.precedes($1) }
  }
}
