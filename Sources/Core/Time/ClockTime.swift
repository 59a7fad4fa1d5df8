/// A time of the day in the words of people: `9:00`, `09:00:30`, `9am`, `4:30 pm`, `9:00Z`,
/// `9:00 UTC`.
struct ClockTime {
  /// The word behind it.
  let end: Int
  /// Behind midnight.
  let second: Int64
  /// In UTC, not in the zone of who says it.
  let isUniversal: Bool

  /// Reads what begins at one of some words.
  ///
  /// - Parameters:
  ///   - words: in lower case.
  ///   - at: which.
  ///   - isBehindAt: behind a day and `at` an hour may be a number alone.
  /// - Returns: nil when no time begins there.
  /// - Throws: `Fault` for a time that there is not, and for an hour that could be two.
  init?(_ words: [String], at: Int, isBehindAt: Bool = false) throws(DueWords.Fault) {
    let word = { (index: Int) in index < words.count ? words[index] : "" }
    var text = word(at)[...]
    var end = at + 1
    var isUniversal = text.contains(":") && text.last == "z"
    if isUniversal { text.removeLast() }
    let halves: [(String, Int64)] = [("am", 0), ("a.m", 0), ("pm", 12), ("p.m", 12)]
    var half: Int64?
    if let found = halves.first(where: { text.hasSuffix($0.0) }) {
      (half, text) = (found.1, text.dropLast(found.0.count))
    } else if let found = halves.first(where: { word(end) == $0.0 }) {
      (half, end) = (found.1, end + 1)
    }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (half != nil || isBehindAt ? 1...3 : 2...3).contains(parts.count),
      parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { $0 &- 48 < 10 } }),
      parts[0].utf8.count <= 2, parts.dropFirst().allSatisfy({ $0.utf8.count == 2 })
    else { return nil }
    let numbers = parts.map { Int64($0) ?? 60 } + [0, 0]
    if half == nil, parts.count == 1 {
      if numbers[0] > 23 { return nil }
      if (1...12).contains(numbers[0]) {
        throw DueWords.Fault(reason: "in the morning or the evening: at \(text)")
      }
    }
    let hours = half == nil ? 0...23 : 1...12 as ClosedRange<Int64>
    guard hours.contains(numbers[0]), numbers[1] < 60, numbers[2] < 60 else {
      throw DueWords.Fault(reason: "no such time: \(words[at..<end].joined(separator: " "))")
    }
    if !isUniversal, ["utc", "gmt", "z"].contains(word(end)) {
      (isUniversal, end) = (true, end + 1)
    }
    let hour = half.map { numbers[0] % 12 + $0 } ?? numbers[0]
    second = hour * 3600 + numbers[1] * 60 + numbers[2]
    (self.end, self.isUniversal) = (end, isUniversal)
  }
}
