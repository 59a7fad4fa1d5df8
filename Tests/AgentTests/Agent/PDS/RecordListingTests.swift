import Testing

@testable import Agent

/// What two lists of records tell of the time between them.
struct RecordListingTests {
  private static func cid(_ number: Int) -> CID { CID(of: [UInt8(number)]) }

  /// Lists records: their keys and what they are.
  private func list(_ records: [(String, Int)], in listing: inout RecordListing) -> [String] {
    for (key, number) in records {
      let isNew = listing.receive("a.b.c/\(key)", Self.cid(number), Array("\(number)".utf8))
      #expect(isNew)
    }
    return listing.finish().map { change in
      let names = [change.change["action"]?.text, change.name?.key.description]
      let value = change.value.map { String(decoding: $0, as: UTF8.self) }
      #expect(change.cid == value.flatMap { Int($0) }.map(Self.cid))
      return (names + [value]).compactMap { $0 }.joined(separator: " ")
    }
  }

  @Test func theFirstListIsWhereItBegins() {
    var listing = RecordListing(tellsAll: false)
    #expect(list([("x", 1), ("y", 2)], in: &listing) == [])
    #expect(list([("y", 2), ("x", 1)], in: &listing) == [])
    #expect(
      list([("z", 3), ("y", 4)], in: &listing) == ["delete x", "update y 4", "create z 3"])
    #expect(list([], in: &listing) == ["delete y", "delete z"])
    #expect(list([("x", 1)], in: &listing) == ["create x 1"])
  }

  @Test func allCanBeNew() {
    var listing = RecordListing(tellsAll: true)
    #expect(list([("y", 2), ("x", 1)], in: &listing) == ["create x 1", "create y 2"])
    #expect(list([("x", 1)], in: &listing) == ["delete y"])
  }

  @Test func whatComesTwiceIsTakenOnce() {
    var listing = RecordListing(tellsAll: true)
    let isNew = listing.receive("a.b.c/x", Self.cid(1), nil)
    #expect(isNew)
    let isAgain = listing.receive("a.b.c/x", Self.cid(1), nil)
    #expect(!isAgain)
    #expect(listing.finish().count == 1)
  }

  @Test func aListThatBreaksOffIsForgotten() {
    var listing = RecordListing(tellsAll: false)
    #expect(list([("x", 1), ("y", 2)], in: &listing) == [])
    let isNew = listing.receive("a.b.c/x", Self.cid(7), nil)
    #expect(isNew)
    listing.restart()
    #expect(list([("x", 1), ("y", 3)], in: &listing) == ["update y 3"])
  }

  @Test func aChangeKnowsWhatWasThere() {
    var listing = RecordListing(tellsAll: false)
    #expect(list([("x", 1)], in: &listing) == [])
    _ = listing.receive("a.b.c/x", Self.cid(2), nil)
    let change = listing.finish().first?.change
    #expect(change?["prev"]?.link == Self.cid(1) && change?["cid"]?.link == Self.cid(2))
  }
}
