import Core
import Testing

@testable import Agent

struct ListCursorTests {
  private func next(_ cursors: inout ListCursor, _ body: String, isNews: Bool = true) -> String? {
    do throws(Failure) {
      return try cursors.next(after: Array(body.utf8), isNews: isNews)
    } catch {
      return "fault: " + error.reason
    }
  }

  @Test(
    arguments: [
      (#"{}"#, nil), (#"{"cursor":null}"#, nil), (#"{"cursor":""}"#, nil),
      (#"{"cursor":"a\u0041"}"#, "aA"),
      (#"{"cursor":12345678901234567890}"#, "12345678901234567890"),
      (#"{"cursor":[1]}"#, "fault: a cursor that is neither a text nor a number"),
    ] as [(String, String?)])
  func reads(_ body: String, _ cursor: String?) {
    var cursors = ListCursor()
    #expect(next(&cursors, body) == cursor)
  }

  @Test func endsWhereItWas() {
    var cursors = ListCursor()
    #expect(next(&cursors, #"{"cursor":"a"}"#) == "a")
    #expect(next(&cursors, #"{"cursor":"b"}"#) == "b")
    #expect(next(&cursors, #"{"cursor":"a"}"#) == nil)
  }

  @Test func endsWhenNothingComes() {
    var cursors = ListCursor()
    for page in 1..<ListCursor.mostIdle {
      #expect(next(&cursors, #"{"cursor":\#(page)}"#, isNews: false) == "\(page)")
    }
    #expect(next(&cursors, #"{"cursor":"news"}"#) == "news")
    for page in 11..<10 + ListCursor.mostIdle {
      #expect(next(&cursors, #"{"cursor":\#(page)}"#, isNews: false) == "\(page)")
    }
    #expect(next(&cursors, #"{"cursor":"last"}"#, isNews: false)?.hasPrefix("fault: 10") == true)
  }
}
