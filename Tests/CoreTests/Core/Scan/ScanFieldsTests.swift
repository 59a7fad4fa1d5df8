import Core
import Testing

private enum Member: Int, ScanName {
  case turnId, text, deterministicSummary
  static let table = NameTable<Member>(inSnakeCase: true)
}

/// The members of a wire's objects by their names.
@Suite struct ScanFieldsTests {
  private func read(_ text: String) -> [String?] {
    Array(text.utf8).withUnsafeBytes { bytes in
      let fields = ScanFields<Member>(bytes)
      return Member.allCases.map { fields[$0].string }
    }
  }

  @Test func membersHaveTwoSpellings() {
    #expect(read(#"{"turnId":"a","text":"b"}"#) == ["a", "b", nil])
    #expect(
      read(#"{"turn_id":"a","x":{"text":"c"},"deterministic_summary":"d"}"#) == ["a", nil, "d"])
  }

  @Test func theLastOfANameCounts() {
    #expect(read(#"{"text":"a","text":"b"}"#) == [nil, "b", nil])
  }

  @Test func aKeyMayBeSpelledWithEscapes() {
    #expect(read(#"{"te\u0078t":"a","\u0074urn_id":"b"}"#) == ["b", "a", nil])
  }

  @Test func whatIsBehindAFaultIsAbsent() {
    #expect(read(#"{"turnId":"a",]"text":"b"}"#) == ["a", nil, nil])
    #expect(read("[]") == [nil, nil, nil])
  }

  @Test func anotherObjectForgetsTheOneBefore() throws {
    var fields = ScanFields<Member>()
    for (text, isThere) in [(#"{"text":"a"}"#, true), (#"{"turnId":"b"}"#, false)] {
      let bytes = Array(text.utf8)
      try bytes.withUnsafeBytes { try fields.read($0) }
      #expect(fields[.text].isAbsent != isThere)
    }
  }

  @Test func aWordIsAString() {
    func word(_ text: String) -> Member? {
      Array(text.utf8).withUnsafeBytes { Member.table.word(ScanValue($0)) }
    }
    #expect(word(#""turnId""#) == .turnId)
    #expect(word("12") == nil)
  }
}
