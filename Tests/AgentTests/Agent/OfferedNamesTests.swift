import Core
import Records
import Testing

@testable import Agent

@Suite struct OfferedNamesTests {
  private func offered(_ names: (id: String, name: String)...) -> [String] {
    OfferedNames.words(names.map { ToldName(.guild, id: $0.id, name: $0.name) })
  }

  @Test func aNameIsOneWord() {
    #expect(
      offered(("1", "Repair Café 🔧"), ("2", "Valve \u{202e}radio club")) == [
        "Repair-Café", "Valve-radio-club",
      ])
    #expect(offered(("1", "$(touch evil)`x`")) == ["touch-evil-x"])
  }

  @Test func whatIsNoWordIsAnID() {
    #expect(
      offered(("1", "🔧"), ("2", "123"), ("3", String(repeating: "x", count: 61))) == [
        "1", "2", "3",
      ])
    // A joiner, and a letter that nobody sees.
    #expect(offered(("1", "a\u{200d}b"), ("2", "\u{3164}x")) == ["1", "2"])
  }

  @Test func whatIsOfSeveralIsTheirIDs() {
    #expect(offered(("1", "Twins"), ("2", "twins!"), ("3", "Ann")) == ["1", "2", "Ann"])
    // Who was renamed has both names.
    #expect(offered(("1", "Ann"), ("1", "Anna"), ("1", "ann")) == ["Ann", "Anna", "ann"])
  }
}
