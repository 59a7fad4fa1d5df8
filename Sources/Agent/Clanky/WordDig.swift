/// Chooses words to ask for where there are more facts than one answer holds:
/// those that are likely to have the most facts among which none is cut off.
struct WordDig {
  let subject: String?
  /// Questions in a row that brought nothing new.
  var idle = 0
  private var seen = 0
  /// How often each was seen: words, and behind them parts of numbers, which are asked
  /// for when words are of no use any more.
  private var pools: [[String: Int]] = [[:], [:]]
  private var asked: Set<String> = []

  init(subject: String?) { self.subject = subject }

  mutating func add(_ fact: Fact?) {
    guard let fact else { return }
    seen += 1
    var words: Set<String> = []
    var parts: Set<String> = []
    for text in [fact.fact, fact.evidence ?? "", fact.type] {
      words.formUnion(Self.words(of: text))
      parts.formUnion(Self.parts(of: text))
    }
    // A text is looked for in these, too.
    if let channel = fact.channelID, !channel.isEmpty { words.insert(channel) }
    if let message = fact.sourceMessageID { parts.formUnion(Self.parts(of: message)) }
    for (pool, new) in [words, parts].suffix(pools.count).enumerated() {
      for word in new.subtracting(asked) { pools[pool][word, default: 0] += 1 }
    }
  }

  mutating func next(known: Int, expected: Int) -> String? {
    if idle >= FactPages.patience || pools[0].isEmpty, pools.count > 1 {
      pools.removeFirst()
      idle = 0
    }
    guard idle < FactPages.patience, seen > 0 else { return nil }
    let scale = Double(max(expected, known)) / Double(seen)
    let room = Double(FactPages.most) * 0.8
    func rank(_ count: Int) -> Double {
      let likely = Double(count) * scale
      return likely <= room ? likely : room * room / likely
    }
    let best = pools[0].max { a, b in
      let (x, y) = (rank(a.value), rank(b.value))
      return x != y ? x < y : a.key > b.key
    }
    guard let best = best?.key else { return nil }
    pools[0][best] = nil
    asked.insert(best)
    return best
  }

  /// Runs of letters and digits of three bytes or more; a whole number chooses too few.
  private static func words(of text: String) -> [String] {
    text.lowercased().split { !($0.isLetter || $0.isNumber) }
      .filter { word in
        word.utf8.count >= 3 && word.utf8.count <= 40 && !word.utf8.allSatisfy { $0 &- 48 < 10 }
      }
      .map(String.init)
  }

  /// Two and three digits in a row: facts that differ in a number alone have no better word.
  private static func parts(of text: String) -> [String] {
    text.utf8.split { $0 &- 48 >= 10 }.filter { $0.count <= 20 }.flatMap { number in
      [2, 3].flatMap { length in
        (0..<max(number.count - length + 1, 0)).map {
          String(decoding: number.dropFirst($0).prefix(length), as: UTF8.self)
        }
      }
    }
  }
}
