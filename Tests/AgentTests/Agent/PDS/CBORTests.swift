import Core
import Testing

@testable import Agent

struct CBORTests {
  private func read(_ bytes: [UInt8], leavingOut name: String? = nil) throws -> CBORValue {
    try bytes.withUnsafeBytes { bytes in
      var reader = CBORReader(bytes)
      let value = try reader.next(leavingOut: name)
      #expect(reader.isAtEnd)
      return value
    }
  }

  private func fault(_ bytes: [UInt8]) -> String? {
    bytes.withUnsafeBytes { bytes in
      var reader = CBORReader(bytes)
      do { _ = try reader.next() } catch { return (error as? Failure)?.reason }
      return nil
    }
  }

  @Test func writesWhatItReads() throws {
    let cid = CID(of: [0xf6])
    let value = CBORValue.map([
      .init(name: "b", value: .integer(-1)),
      .init(name: "aa", value: .array([.null, .bool(true)])),
      .init(name: "c", value: .link(cid)), .init(name: "d", value: .bytes([0, 255])),
      .init(name: "e", value: .map([])),
    ])
    let back = try read(value.encoded)
    // Sorted by length, then bytes.
    guard case .map(let members) = back else { return #expect(Bool(false)) }
    #expect(members.map(\.name) == ["b", "c", "d", "e", "aa"])
    #expect(back["c"]?.link == cid)
    #expect(back.encoded == value.encoded)
  }

  @Test(
    arguments: [
      0, 23, 24, 255, 256, 65535, 65536, 4_294_967_295, 4_294_967_296, Int64.max, -1, -24, -25,
      -256,
      -257, Int64.min,
    ])
  func keepsNumbers(_ number: Int64) throws {
    #expect(try read(CBORValue.integer(number).encoded) == .integer(number))
  }

  @Test func becomesJSON() {
    let cid = CID(of: [0xf6])
    let value = CBORValue.map([
      .init(name: "t", value: .text("a\"b\u{1b}")), .init(name: "l", value: .link(cid)),
      .init(name: "n", value: .null), .init(name: "x", value: .bytes([1, 2, 3])),
    ])
    #expect(value.json == #"{"t":"a\"b\u001b","l":"\#(cid)","n":null,"x":"AQID"}"#)
  }

  @Test func passesOverBlocks() throws {
    let bytes: [UInt8] = [0xa2, 0x61, 0x61, 0x01, 0x66] + Array("blocks".utf8) + [0x43, 1, 2, 3]
    #expect(try read(bytes, leavingOut: "blocks") == .map([.init(name: "a", value: .integer(1))]))
  }

  @Test func believesNoLength() {
    // So many elements, pairs or bytes, of which none are there.
    for major in [0x80, 0xa0, 0x40, 0x60] as [UInt8] {
      #expect(fault([major | 27] + [UInt8](repeating: 0xff, count: 8)) == "cut short")
      #expect(fault([major | 26, 0x7f, 0xff, 0xff, 0xff]) == "cut short")
    }
    #expect(fault([UInt8](repeating: 0x81, count: 100_000) + [0]) == "nested too deep")
    #expect(fault([0x9f, 0xff]) == "a length that is not given")
    #expect(fault([0x1b] + [UInt8](repeating: 0xff, count: 8)) == "a number over 63 bits")
    #expect(fault([0x62, 0xc3, 0x28]) == "a text that is not UTF-8")
    #expect(fault([0xfb] + [UInt8](repeating: 0, count: 8))?.hasPrefix("a float") == true)
    #expect(fault([0xa1, 0x01, 0x01]) == "a key that is no text")
    #expect(fault([0xc1, 0x00]) == "tag 1, not 42")
    #expect(fault([0xd8, 0x2a, 0x41, 0x00]) == "a link that is no CID")
    #expect(fault([]) == "cut short")
  }

  @Test func neverCrashesOnWhatIsCut() {
    let whole = CBORValue.map([
      .init(name: "a", value: .array([.text("x"), .link(CID(of: [1])), .integer(70000)]))
    ]).encoded
    for count in 0..<whole.count { #expect(fault(Array(whole[..<count])) != nil) }
  }

  @Test func neverCrashesOnAnything() {
    var generator = SystemRandomNumberGenerator()
    let heads: [UInt8] = [0x81, 0xa1, 0x9b, 0xbb, 0x5b, 0x7b, 0xd8, 0x2a, 0x41, 0x61, 0xf6, 0xa2]
    for _ in 0..<5_000 {
      let bytes = (0..<Int.random(in: 0..<40, using: &generator)).map { _ in
        Bool.random(using: &generator)
          ? heads.randomElement(using: &generator)! : UInt8.random(in: 0...255, using: &generator)
      }
      bytes.withUnsafeBytes { bytes in
        var reader = CBORReader(bytes)
        while !reader.isAtEnd, let value = try? reader.next() { _ = value.json }
        _ = try? FirehoseFrame(bytes)
      }
    }
  }
}
