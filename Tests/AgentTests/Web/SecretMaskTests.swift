import Testing

@testable import Web

/// What is hidden of what a server sends back.
@Suite struct SecretMaskTests {
  private let token = "aB/9 +%&\"z\u{e9}"

  @Test(arguments: [
    "aB/9 +%&\"z\u{e9}", "AB/9 +%&\"Z\u{e9}", "aB%2F9%20%2B%25%26%22z%C3%A9",
    "aB%2f9+%2b%25%26%22z%c3%a9", "aB%252F9%2520%252B%2525%2526%2522z%25C3%25A9",
    "aB%2F9 +%&\"z\u{e9}", "aB\\/9 +%&\\\"z\u{e9}", "\\u0061B\\u002f9\\u0020+%&\\x22z\u{e9}",
    "aB/9 +%&amp;&quot;z\u{e9}", "aB&#47;9&#x20;+%&#38;&#X22;z\u{e9}",
    "61422f39202b2526227ac3a9", "61422F39202B2526227AC3A9", "YUIvOSArJSYiesOp",
  ])
  func spellings(_ text: String) {
    let mask = SecretMask([token])
    #expect(mask.hide(text) == "(secret)")
    #expect(mask.hide("<\(text)>\(text)\u{e9}") == "<(secret)>(secret)\u{e9}")
  }

  /// Whatever stands in front, what is left of base64 tells nothing.
  @Test(arguments: ["YTphQi85ICslJiJ6w6k6Yg==", "YWI6YUIvOSArJSYiesOpOmI=", "YUIvOSArJSYiesOp"])
  func base64(_ text: String) {
    let left = SecretMask([token]).hide(text)
    #expect(left.contains("(secret)"))
    #expect(left.utf8.count < text.utf8.count - 4)
  }

  @Test func otherTextStays() {
    let mask = SecretMask([token, "", "x"])
    for text in ["", "aB/9", "a%", "%2", "a%25", "\\u00", "\\", "&#y", "&#;", "%\u{e9}", "ab/9 +"] {
      #expect(mask.hide(text) == text)
    }
    #expect(mask.hide("X, x") == "X, (secret)")
    #expect(SecretMask().hide(token) == token)
  }

  @Test func theLongestIsHidden() {
    #expect(SecretMask(["abcd", "abcdefgh"]).hide("abcdefgh abcd") == "(secret) (secret)")
    #expect(SecretMask(["%25%25"]).hide("%2525%2525") == "(secret)")
  }

  @Test func headersOfTheUser() throws {
    var request = Request(try WebAddress("http://ada:pa55word@h/?key=0123456&n=1"))
    request.privateHeaders = [
      Header("Authorization", "Bearer abcdef"), Header("Cookie", "a=b; sid=ghijkl"),
      Header("Content-Type", "application/json"), Header("X-A", "1"),
    ]
    request.unquotable = ["t0"]
    #expect(
      request.mask.hide("Bearer abcdef, ghijkl, application/json, 1, t0, pa55word")
        == "(secret), (secret), application/json, 1, (secret), (secret)")
    #expect(request.address.queryValues == ["0123456"])
  }
}
