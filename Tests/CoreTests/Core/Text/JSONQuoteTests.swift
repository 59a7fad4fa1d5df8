import Testing

@testable import Core

@Suite struct JSONQuoteTests {
  private func visible(_ json: String) -> String {
    var out = ByteBuffer()
    Array(json.utf8).withUnsafeBytes { JSONQuote.appendVisible(json: $0, to: &out) }
    return String(decoding: out.bytes, as: UTF8.self)
  }

  @Test func blanksBetweenTokensMoveNoCursor() {
    #expect(visible("{\t\"a\" :\r1}\n") == "{ \"a\" : 1}\n")
    #expect(visible("[1,\r\n2]") == "[1, \n2]")
    #expect(visible("\"\u{9b}\u{202e}\"") == #""\u009b\u202e""#)
  }
}
