import Foundation
import Testing

@testable import agent_serve

@Suite("Compatible letters")
struct CompatibilityTests {
  /// What is in words, or makes them: all but capitals, which never come.
  private func isAsked(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .lowercaseLetter, .modifierLetter, .otherLetter, .nonspacingMark, .spacingMark,
      .decimalNumber, .letterNumber, .otherNumber, .otherSymbol:
      String(scalar).lowercased() == String(scalar)
    default: false
    }
  }

  /// Later letters are not in every library.
  private func isKnown(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.age.map { $0.major <= 15 } ?? false
  }

  @Test("Every letter is taken apart as Foundation does")
  func letters() {
    // All at once: one at a time takes a minute. Nothing joins over a line end.
    let scalars = (0x80...0x1ffff as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init)
      .filter { isKnown($0) && isAsked($0) }
    let text = scalars.map { "\($0)\n" }.joined()
    let got = Compatibility.decomposed(text).unicodeScalars.split(separator: "\n")
    let want = text.decomposedStringWithCompatibilityMapping.unicodeScalars.split(separator: "\n")
    #expect(got.count == scalars.count && want.count == scalars.count)
    let others = zip(scalars, zip(got, want)).filter { !$1.0.elementsEqual($1.1) }
    #expect(others.map { String($0.0.value, radix: 16) } == [])
  }

  @Test(
    "And put together again",
    arguments: ["e\u{301}", "\u{1100}\u{1161}\u{11a8}", "s\u{307}\u{323}", "\u{feff}x", ""])
  func composed(_ text: String) {
    let want = text.precomposedStringWithCanonicalMapping.unicodeScalars
    #expect(Compatibility.composed(text).unicodeScalars.elementsEqual(want))
    let apart = text.decomposedStringWithCompatibilityMapping.unicodeScalars
    #expect(Compatibility.decomposed(text).unicodeScalars.elementsEqual(apart))
  }
}
