import Core
import TestSupport
import Testing

@testable import action_filter

/// The search in blocks against the one byte by byte.
@Suite struct LiteralSearchTests {
  private func needles(_ random: inout some RandomNumberGenerator) -> [LiteralSearch.Needle] {
    let letters = Array("ab\"_1é".utf8)
    return (0..<Int.random(in: 1...LiteralSearch.limit, using: &random)).map { _ in
      let bytes = (0..<Int.random(in: 1...70, using: &random)).map { _ in
        letters.randomElement(using: &random) ?? 0
      }
      return .init(bytes: bytes, ignoresCase: Bool.random(using: &random))
    }
  }

  @Test func blocksFindWhatBytesFind() {
    var random = SystemRandomNumberGenerator()
    let noise = Array("abAB\"_1é\\u00615 \n".utf8)
    var found = 0
    for _ in 0..<500 {
      let list = needles(&random)
      let search = LiteralSearch(list)
      var text = (0..<Int.random(in: 0...400, using: &random)).map { _ in
        noise.randomElement(using: &random) ?? 0
      }
      var plants: [[UInt8]] = [list[0].bytes, Array(#"\u0061"#.utf8), Array(#"\uABCD"#.utf8)]
      if list[0].ignoresCase {
        plants.append(list[0].bytes.map { $0 &- 0x61 < 26 ? $0 & 0xdf : $0 })
      }
      if Bool.random(using: &random), let plant = plants.randomElement(using: &random) {
        text.insert(contentsOf: plant, at: Int.random(in: 0...text.count, using: &random))
      }
      let (fast, plain) = text.withUnsafeBytes { (search.find($0), search.findPlainly($0)) }
      #expect(fast == plain, "\(list) in \(text)")
      if fast != nil { found += 1 }
    }
    #expect(found > 50 && found < 500)
  }

  @Test func findsEachAtEveryPlace() {
    let search = LiteralSearch([.init(bytes: Array("\"llm_error\"".utf8))])
    let kinds = [
      ("\"llm_error\"", true), (#"\u005f"#, true), (#"\u005F"#, true), (#"\u0022"#, true),
      (#"\u004c"#, false), (#"\u015f"#, false), (#"\u00"#, false), ("\"llm_errors\"", false),
      (#"\n005f"#, false),
    ]
    for (text, isFound) in kinds {
      for before in 0..<140 {
        for after in [0, 1, 5, 63, 64, 65, 130] {
          let bytes =
            [UInt8](repeating: 0x5c, count: before) + Array(text.utf8)
            + [UInt8](repeating: 0x75, count: after)
          let position = bytes.withUnsafeBytes { search.find($0) }
          #expect(position == (isFound ? before : nil), "\(text) at \(before), \(after) behind")
        }
      }
    }
  }

  /// Memory that ends where the text does: a read beyond it would end the tests.
  @Test func readsNothingOutsideOfTheBuffer() throws {
    let search = LiteralSearch([
      .init(bytes: Array("llm_error".utf8)), .init(bytes: Array("x".utf8), ignoresCase: true),
    ])
    let texts = TextSearch("ÄRGER", ignoresCase: true)
    for count in 0..<400 {
      let bytes = (0..<count).map { _ in #"lm_errorä\u00"#.utf8.randomElement() ?? 0 }
      try GuardedBytes.with(bytes) { guarded in
        #expect(search.find(guarded) == search.findPlainly(guarded))
        #expect(!texts.matches(guarded))
      }
    }
  }

  /// `-i` leaves k and s out of what is searched: no other letter of ASCII is
  /// the folding of a character beyond.
  @Test func onlyTheKelvinSignAndTheLongSFoldToASCII() {
    let folding = CaseFolding()
    let found = (UInt32(0x80)...0x10ffff).filter { folding.fold($0) < 0x80 }
    #expect(found == [0x17f, 0x212a])
  }
}
