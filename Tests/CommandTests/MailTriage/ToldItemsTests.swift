import CLibc
import Core
import Testing

@testable import mail_triage

/// What is remembered over restarts, and how much of it.
@Suite struct ToldItemsTests {
  private func item(_ number: Int) -> Item {
    Item(kind: "message", id: "m\(number)", platform: "mail", category: "email")
  }

  /// What of 0 to 9 a file of items remembers.
  private func known(_ path: String) throws -> [Int] {
    var told = try ToldItems(path)
    var known: [Int] = []
    for number in 0..<10 where !told.isNew(item(number)) { known.append(number) }
    return known
  }

  @Test func theOldestAreForgottenFirst() throws {
    var template = Array("/tmp/agentutils-test.XXXXXX".utf8CString)
    let file = mkstemp(&template)
    close(file)
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unlink(path) }

    var told = try ToldItems(path, most: 3)
    for number in 0..<3 { told.add(item(number)) }
    try told.save(isLast: true)
    #expect(try known(path) == [0, 1, 2])

    // What is there still is remembered before what is gone, the newest of that first.
    told = try ToldItems(path, most: 3)
    let isNew = told.isNew(item(0))
    #expect(!isNew)
    told.add(item(3))
    try told.save(isLast: true)
    #expect(try known(path) == [0, 2, 3])

    // All that is there is remembered, however much it is.
    told = try ToldItems(path, most: 3)
    for number in 4..<8 { told.add(item(number)) }
    try told.save(isLast: true)
    #expect(try known(path) == [4, 5, 6, 7])
  }
}
