/// Chooses words to ask for where there are more facts than one answer holds:
/// those that are likely to have the most facts among which none is cut off.
struct WordDig {
  /// Whose facts; nil for everybody's.
  let subject: String?
  /// Questions in a row that brought nothing new.
  var idle = 0
  private var seen = 0
  private var counts: [String: Int] = [:]
  private var asked: Set<String> = []

  /// - Parameter subject: nil for all.
  init(subject: String?) { self.subject = subject }

  /// Learns the words of a fact.
  mutating func add(_ fact: Fact?) {
    guard let fact else { return }
    seen += 1
    var words: Set<String> = []
    for text in [fact.fact, fact.evidence ?? "", fact.type] {
      words.formUnion(Self.words(of: text))
    }
    for word in words where !asked.contains(word) { counts[word, default: 0] += 1 }
  }

  /// The next word, nil when asking is of no use any more.
  ///
  /// - Parameters:
  ///   - known: how many facts were found.
  ///   - expected: how many there are; nil when nobody knows.
  mutating func next(known: Int, expected: Int?) -> String? {
    guard idle < FactPages.patience, seen > 0 else { return nil }
    let scale = Double(max(expected ?? known * 2, known)) / Double(seen)
    let room = Double(FactPages.most) * 0.8
    func rank(_ count: Int) -> Double {
      let likely = Double(count) * scale
      return likely <= room ? likely : room * room / likely
    }
    guard
      let best = counts.max(by: { a, b in
        let (x, y) = (rank(a.value), rank(b.value))
        return x != y ? x < y : a.key > b.key
      })?.key
    else { return nil }
    counts[best] = nil
    asked.insert(best)
    return best
  }

  /// Runs of letters and digits of three bytes or more.
  private static func words(of text: String) -> [String] {
    text.lowercased().split { !($0.isLetter || $0.isNumber) }
      .filter { $0.utf8.count >= 3 && $0.utf8.count <= 40 }.map(String.init)
  }
}
