/// Guesses which word was meant by one that is not known, as git and gh do.
public enum NearestWord {
  /// What an error adds: `: did you mean list?`, or `: did you mean list or last?`.
  ///
  /// - Parameter start: what stands in front of each: `--`.
  /// - Returns: an empty text when none of the words is near, or too many are.
  public static func hint(for word: String, among words: [String], after start: String = "")
    -> String
  {
    let typed = Array(word.utf8)
    // One letter in three may be wrong, but never more than two.
    let most = min(typed.count / 3, 2)
    guard most > 0, typed.count <= 64 else { return "" }
    var nearest: [String] = []
    var least = most
    for candidate in words where candidate != word && !nearest.contains(candidate) {
      let letters = Array(candidate.utf8)
      guard abs(letters.count - typed.count) <= least else { continue }
      let distance = distance(typed, letters)
      if distance < least { nearest = [] }
      guard distance <= least else { continue }
      least = distance
      nearest.append(candidate)
    }
    if nearest.isEmpty || nearest.count > 2 { return "" }
    return ": did you mean \(nearest.map { start + $0 }.joined(separator: " or "))?"
  }

  /// How many letters must be put in, left out, replaced or exchanged with their neighbour.
  static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
    var before: [Int] = []
    var last = Array(0...other.count)
    for row in 0..<one.count {
      var now = [row + 1]
      for column in 0..<other.count {
        let isSame = one[row] == other[column]
        var cost = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, now[column] + 1)
        if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column] {
          cost = min(cost, before[column - 1] + 1)
        }
        now.append(cost)
      }
      before = last
      last = now
    }
    return last[other.count]
  }
}
