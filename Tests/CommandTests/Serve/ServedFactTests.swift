import Core
import Records
import Testing

@testable import agent_serve

@Suite("Facts")
struct ServedFactTests {
  private func decode(_ text: String) throws -> StoredFact {
    try Array(text.utf8).withUnsafeBytes { bytes in
      try StoredFact(try #require(ScanObject(bytes)), now: Timestamp(seconds: 0))
    }
  }

  private func edit(_ id: String, _ text: String) -> Result<FactEdit, Refusal> {
    Array(text.utf8).withUnsafeBytes { bytes in
      do throws(Refusal) {
        return .success(try FactEdit(id: id, ScanObject(bytes) ?? ScanObject()))
      } catch {
        return .failure(error)
      }
    }
  }

  @Test(
    "White space is folded, and what is too long is cut in UTF-16 units",
    arguments: [
      ("", ""), (" \t\r\n\u{feff}\u{3000}", ""), (" a \u{2028}\u{a0} b ", "a b"),
      ("\u{85}", "\u{85}"), ("abcdef", "abcde"), ("abcd ef", "abcd "), ("abcde f", "abcde"),
      ("abc🥜d", "abc🥜"), ("abcd🥜", "abcd\u{fffd}"), ("a\0b", "a\u{fffd}b"),
      ("e\u{301}e\u{301}e\u{301}", "e\u{301}e\u{301}e"),
    ])
  func folding(_ text: String, _ want: String) {
    let got = KeptText.folded(text, limit: 5)
    #expect(Array(got.unicodeScalars) == Array(want.unicodeScalars))
  }

  @Test("A fact without a scope is its guild's, the owner's, or a person's")
  func scopes() throws {
    #expect(try decode(#"{"guildId":"1","subject":"7","fact":"x"}"#).scope == "guild")
    let person = try decode(#"{"subject":"7","fact":"x"}"#)
    #expect(person.scope == "user")
    #expect(person.user == "7")
    #expect(try decode(#"{"subject":"__self__","fact":"x"}"#).user == nil)
    #expect(try decode(#"{"guildId":"1","subject":"__owner__","fact":"x"}"#).scope == "owner")
    let portable = try decode(#"{"guildId":"1","scope":"USER","subject":"7","fact":"x"}"#)
    #expect(portable.guild == nil)
    #expect(portable.isPortable)
    #expect(throws: Failure("guildId required")) {
      try decode(#"{"scope":"project","subject":"7","fact":"x"}"#)
    }
  }

  @Test("A row and the form of profiles are the same fact")
  func spellings() throws {
    var fact = try decode(
      #"{"guild_id":"1","channel_id":2,"subject":"s","fact":"f","fact_type":"Profile","evidence_text":"e","source_message_id":"9","confidence":0.25,"created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-02T00:00:00.000Z","metadata":{"isLegacy":true}}"#
    )
    fact.id = 5
    #expect(fact.isLegacy)
    #expect(fact.type == "profile")
    for text in [fact.editable.text, fact.profile.text] {
      var again = try decode(text)
      again.id = 5
      #expect(again == fact, "\(text)")
    }
  }

  @Test("The checks of an edit, in their order")
  func checks() {
    #expect(edit("x", "{}") == .failure(Refusal(fact: "guildId required")))
    #expect(edit("x", #"{"guildId":1}"#) == .failure(Refusal(fact: "valid factId required")))
    for id in ["", "0", "-1", "1.5", "nan", "1e400", "0x", "9223372036854775808"] {
      #expect(
        edit(id, #"{"guildId":"1"}"#) == .failure(Refusal(fact: "valid factId required")), "\(id)")
    }
    #expect(edit("1", #"{"guildId":"1"}"#) == .failure(Refusal(fact: "subject required")))
    #expect(
      edit("1", #"{"guildId":"1","subject":"s"}"#) == .failure(Refusal(fact: "fact required")))
    #expect(
      edit("1", #"{"guildId":"1","subject":"s","fact":"f"}"#)
        == .failure(Refusal(fact: "confidence must be a number between 0 and 1")))
    let done = edit(" 1e2", #"{"guildId":"1","subject":"s","fact":" f","confidence":" 7 "}"#)
    #expect((try? done.get())?.id == 100)
    #expect((try? done.get())?.confidence == 1)
    #expect((try? done.get())?.type == "other")
  }

  @Test("A fact is stored once, edited whole, deleted once, and its id is not used again")
  func table() async throws {
    let store = try ActionStore(path: ":memory:")
    let facts = [
      try decode(#"{"guildId":"1","subject":"s","fact":"one"}"#),
      try decode(#"{"guildId":"1","subject":"s","fact":"one"}"#),
      try decode(#"{"guildId":"2","subject":"s","fact":"one"}"#),
    ]
    #expect(try await store.write { try FactTable.insert(facts, $0) } == [1, nil, 2])
    let edit = try self.edit(
      "1", #"{"guildId":"1","subject":"t","fact":"two","confidence":0.5}"#
    ).get()
    let stored = try await store.write { try FactTable.edit(edit, now: "now", $0) }
    #expect(stored.text == "two")
    #expect(stored.revision == 2)
    #expect(
      try await store.read { try FactQuery("one", $0).candidates(guild: "1", depth: 9, $0) }.isEmpty
    )
    #expect(
      try await store.read { try FactQuery("two", $0).candidates(guild: "1", depth: 9, $0) }
        .map(\.fact) == [stored])
    await #expect(throws: Refusal.notFound) {
      try await store.write { try FactTable.delete(1, guild: "2", now: "now", $0) }
    }
    try await store.write { try FactTable.delete(1, guild: "1", now: "now", $0) }
    await #expect(throws: Refusal.notFound) {
      try await store.write { try FactTable.delete(1, guild: "1", now: "now", $0) }
    }
    #expect(try await store.write { try FactTable.insert(facts, $0) } == [3, nil, nil])
  }

  @Test("Records of facts, wrapped or bare, are not actions")
  func records() throws {
    func content(_ line: String) throws -> StoredFact? {
      var reader = RecordReader(now: Timestamp(seconds: 0), isUnique: true)
      let items = try Array(line.utf8).withUnsafeBytes { try reader.read($0) }
      guard items.count == 1, case .fact(let fact) = items[0].content else { return nil }
      return fact
    }
    let bare = #"{"guild_id":"1","subject":"s","fact":"f"}"#
    #expect(try content(bare)?.text == "f")
    #expect(try content("{\"event\":\"fact\",\"id\":\"\",\"data\":\(bare)}")?.text == "f")
    #expect(try content(#"{"kind":"memory_fact","subject":"s","fact":"f"}"#) == nil)
    #expect(try content(#"{"type":"fact_delete","subject":"s","fact":"f"}"#) == nil)
    #expect(throws: Failure("subject required")) { try content(#"{"event":"fact","data":{}}"#) }
    #expect(throws: Failure("fact: not an object")) {
      try content(#"{"event":"fact","data":7}"#)
    }
  }
}
