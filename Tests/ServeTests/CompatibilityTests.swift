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

  @Test("Every letter is taken apart as Foundation does")
  func letters() {
    var others: [String] = []
    for value in (0x80...0x1ffff as ClosedRange<UInt32>) {
      guard let scalar = Unicode.Scalar(value), isAsked(scalar) else { continue }
      let text = String(scalar)
      let want = text.decomposedStringWithCompatibilityMapping.unicodeScalars
      let got = Compatibility.decomposed(text).unicodeScalars
      if !got.elementsEqual(want) { others.append(String(value, radix: 16)) }
    }
    #expect(others == [])
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
