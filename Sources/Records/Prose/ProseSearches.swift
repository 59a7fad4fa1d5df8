/// Finds what comes next in a block, and remembers it: however often that is asked from places
/// further and further on, the block is gone through once.
struct ProseSearches {
  private var places: [UInt8: Int] = [:]
  private var ends: [String: Int] = [:]
  /// Where runs of backticks begin, by their length, the last one first.
  private var runs: [Int: [Int]]?

  /// The next place of a byte; nil when there is none.
  mutating func next(_ wanted: UInt8, from start: Int, in bytes: [UInt8]) -> Int? {
    if let place = places[wanted], place >= start { return place < bytes.count ? place : nil }
    var place = start
    while place < bytes.count, bytes[place] != wanted { place += 1 }
    places[wanted] = place
    return place < bytes.count ? place : nil
  }

  /// Where the next such word ends, in whatever case; nil when there is none.
  mutating func end(of word: String, from start: Int, in bytes: [UInt8]) -> Int? {
    if let end = ends[word], end - word.utf8.count >= start { return end < .max ? end : nil }
    let end = bytes.end(of: word, from: start, to: bytes.count)
    ends[word] = end ?? .max
    return end
  }

  /// The end of the code that a run of backticks begins; nil when no run of the same length
  /// follows.
  mutating func closing(of run: Range<Int>, in bytes: [UInt8]) -> Int? {
    var runs = self.runs ?? Self.runs(of: bytes)
    self.runs = nil
    defer { self.runs = runs }
    while let place = runs[run.count]?.last, place < run.upperBound {
      runs[run.count]?.removeLast()
    }
    return runs[run.count]?.last.map { $0 + run.count }
  }

  private static func runs(of bytes: [UInt8]) -> [Int: [Int]] {
    var runs: [Int: [Int]] = [:]
    var at = bytes.count
    while at > 0 {
      let end = at
      while at > 0, bytes[at - 1] == UInt8(ascii: "`") { at -= 1 }
      if at < end { runs[end - at, default: []].append(at) } else { at -= 1 }
    }
    return runs
  }
}
