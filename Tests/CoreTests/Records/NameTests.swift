import Testing

@testable import Core
@testable import Records

@Suite struct NameKeyTests {
  @Test(arguments: [
    ("Repair Café 🔧", "repair-café"), ("Valve \u{202e}radio club", "VALVE RADIO CLUB"),
    ("Straße", "STRASSE"), ("cafe\u{301}", "café"), ("🔧", "🔧"), ("Anna_2", "anna 2"),
    ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("a\u{200b}b", "ab"), ("$(touch evil)", "touch evil"),
  ])
  func isTheSame(name: String, typed: String) { #expect(NameKey(name) == NameKey(typed)) }

  @Test(arguments: [("Repair Café", "repair cafe"), ("🔧", "🪛"), ("ab", "abc"), ("", "🔧")])
  func isAnother(name: String, typed: String) { #expect(NameKey(name) != NameKey(typed)) }

  @Test(arguments: [
    ("Repair Café 🔧", "Repair-Café"), (" a  b ", "a-b"), ("🔧", ""), ("-x-", "x"),
    ("$(touch evil)", "touch-evil"), ("列 車", "列-車"),
  ])
  func isOneWord(name: String, word: String) { #expect(NameKey.word(name) == word) }

  @Test func idsAreDigits() {
    #expect(NameKey.isID("1184019000000000513"))
    #expect(!NameKey.isID("") && !NameKey.isID("1a") && !NameKey.isID("١") && !NameKey.isID("-1"))
  }
}

@Suite struct NameScanTests {
  private func names(_ line: String) -> [ToldName] {
    var scan = NameScan()
    return Array(line.utf8).withUnsafeBytes { scan.names(in: $0) }
  }

  @Test func readsItsOwnRecord() {
    let told = ToldName(.guild, id: "1", name: "a \"b\"\n\u{1b}[31m")
    #expect(names(String(decoding: told.record, as: UTF8.self)) == [told])
  }

  @Test func whoSpeaksHasAName() {
    let event = #""kind":"voice_runtime","userId":"7","createdAt":"2026-03-01T10:00:00Z""#
    #expect(
      names("{\(event),\"metadata\":{\"speakerName\":\"Noor\"}}")
        == [ToldName(.user, id: "7", name: "Noor")])
    #expect(
      names("{\(event),\"metadata\":{\"memberUserId\":8,\"displayName\":\"Bo\"}}")
        == [ToldName(.user, id: "8", name: "Bo")])
    #expect(
      names("{\(event),\"metadata\":{\"speakerName\":\"Fig\",\"transcriptSource\":\"output\"}}")
        == [])
    #expect(names("{\(event),\"metadata\":{\"speakerName\":\"\"}}") == [])
    #expect(
      names("{\"kind\":\"memory_fact\",\"userId\":\"7\",\"metadata\":{\"speakerName\":\"x\"}}")
        == [])
  }

  @Test func theMarkIsInEveryLineThatTellsOne() {
    for word in ["\"name\"", "\"displayName\"", "\"speakerName\""] {
      #expect(Array(word.utf8).suffix(NameScan.mark.count).elementsEqual(NameScan.mark))
    }
  }
}
