import Testing

@testable import Agent

/// Servers with habits of their own, and the one list that must come of them.
struct RecordPagesTests {
  /// How a server gives its pages.
  struct Server: CustomTestStringConvertible, Sendable {
    var isRising: Bool
    var isInclusive: Bool
    var size: Int
    var testDescription: String {
      "\(isRising ? "rising" : "falling")\(isInclusive ? ", inclusive" : ""), \(size) at a time"
    }

    func page(of keys: [Int], after cursor: Int?) -> [Int] {
      let sorted = isRising ? keys : keys.reversed()
      guard let cursor else { return Array(sorted.prefix(size)) }
      return Array(
        sorted.drop {
          isInclusive ? $0 != cursor : ($0 == cursor || (isRising ? $0 < cursor : $0 > cursor))
        }.prefix(size))
    }
  }

  static let servers = [true, false].flatMap { isRising in
    [true, false].flatMap { isInclusive in
      [2, 3, 7, 100].map { Server(isRising: isRising, isInclusive: isInclusive, size: $0) }
    }
  }

  private func row(_ key: Int) -> RecordPages.Row {
    ("a.b.c/\(1000 + key)", Array("\(key)".utf8))
  }

  @Test(arguments: servers)
  func eachOnceInOrder(_ server: Server) {
    for total in [0, 1, 2, 3, 8, 25] {
      for isRising in [true, false] {
        for count in [0, 1, 2, 5, Int.max] {
          let keys = Array(0..<total)
          var pages = RecordPages(isRising: isRising, count: count)
          var found: [RecordPages.Row] = []
          var cursor: Int?
          for _ in 0..<100 where !pages.isFull {
            let page = server.page(of: keys, after: cursor)
            let (rows, isNews) = pages.receive(page.map(row), bytes: 1)
            found += rows
            // The cursor comes with the last page, too.
            if !isNews { break }
            cursor = page.last
          }
          found += pages.finish()
          let sorted = isRising ? keys : keys.reversed()
          #expect(found.map(\.path) == sorted.prefix(count).map { row($0).path })
        }
      }
    }
  }

  @Test func holdsNoMoreThanIsWanted() {
    var pages = RecordPages(isRising: false, count: 3, mostHeld: 8000)
    for key in 0..<5000 { _ = pages.receive([row(key), row(key + 1)], bytes: 100) }
    #expect(pages.excess == nil)
    #expect(pages.finish().map(\.path) == [5000, 4999, 4998].map { row($0).path })
  }

  @Test func endsWhereTooMuchWouldWait() {
    var pages = RecordPages(isRising: false, count: .max, mostHeld: 8)
    for key in 10..<14 { _ = pages.receive([row(key)], bytes: 100) }
    #expect(pages.excess == nil)
    _ = pages.receive([row(14)], bytes: 100)
    #expect(pages.excess == "more than 8 bytes in the other order; see --reverse")
  }

  @Test func endsWhereTooMuchWasRead() {
    var pages = RecordPages(isRising: true, count: .max, most: 200)
    for key in 1...2 { _ = pages.receive([row(key)], bytes: 100) }
    #expect(pages.excess == nil)
    // Answers count whether or not they bring anything.
    _ = pages.receive([], bytes: 1)
    #expect(pages.excess == "a list of more than 200 bytes")
  }
}
