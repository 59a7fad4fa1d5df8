import Testing

@testable import Core

@Suite struct Base64Tests {
  @Test(arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")])
  func vectors(text: String, code: String) {
    #expect(Base64.text(Array(text.utf8)) == code)
    #expect(Base64.bytes(code.utf8) == Array(text.utf8))
  }

  @Test func longOnes() {
    // Over the parts in which it is made.
    let bytes = (0..<30_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let whole = Base64.text(bytes)
    let parts = stride(from: 0, to: bytes.count, by: 3).map {
      Base64.text(Array(bytes[$0..<min($0 + 3, bytes.count)]))
    }
    #expect(whole == parts.joined())
    #expect(Base64.bytes(whole.utf8) == bytes)
  }

  @Test func thereAndBack() {
    for count in 0..<70 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 97 &+ count) }
      #expect(Base64.bytes(Base64.text(bytes).utf8) == bytes)
      #expect(Base64.bytes(url: Base64.url(bytes).utf8) == bytes)
      #expect(Base64.bytes(url: Base64.text(bytes).utf8) == bytes)
    }
  }

  @Test func oneCodeForTheSameBytes() {
    #expect(Base64.bytes("QQ==".utf8) == [0x41])
    for code in [
      "QR==", "QQF=", "QQ=", "QQ", "Q===", "====", "=", "QQ==QQ==", "\nQQ==", "QQ==\n", "QQ-_",
      "Q Q=",
      "QQ\u{0}=",
    ] {
      #expect(Base64.bytes(code.utf8) == nil, "\(code)")
    }
  }

  @Test func theLettersOfURLs() {
    let bytes: [UInt8] = [0xfb, 0xff, 0xbf, 0xfe]
    #expect(Base64.text(bytes) == "+/+//g==")
    #expect(Base64.url(bytes) == "-_-__g")
    for code in ["-_-__g", "-_-__g==", "+/+//g", "+_-//g="] {
      #expect(Base64.bytes(url: code.utf8) == bytes, "\(code)")
    }
    for code in ["-_-__", "-_-__h", "-_-__g===", "-_=-__g", "Q"] {
      #expect(Base64.bytes(url: code.utf8) == nil, "\(code)")
    }
  }
}
