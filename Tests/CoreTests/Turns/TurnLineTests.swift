import Core
import Records
import Testing
import Turns

/// How a line is looked at before a decoder is asked.
@Suite struct TurnLineTests {
  private func line(_ text: String, _ body: (TurnLine) throws -> Void) throws {
    var scan = RecordScan()
    let bytes = Array(text.utf8)
    try bytes.withUnsafeBytes { try body(TurnLine($0, &scan)) }
  }

  @Test func aWrapperIsOpened() throws {
    try line(#"{"event":"chat","id":"7","profile":"p","data":{"runId":"r"}}"#) { line in
      #expect(line.event == "chat")
      #expect(line.id == "7")
      #expect(line.profile == "p")
      #expect(line.isWrapped)
      #expect(line.value?["runId"]?.string == "r")
    }
  }

  @Test func aBareEventIsTheObject() throws {
    try line(#" {"threadId":"t","turnStarted":{}} "#) { line in
      #expect(line.event.isEmpty)
      #expect(!line.isWrapped)
      #expect(line.value?["threadId"]?.string == "t")
    }
  }
}
