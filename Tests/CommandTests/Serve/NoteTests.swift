import Core
import Records
import Testing

@testable import agent_serve

/// What a reply command says of its work.
@Suite struct NoteTests {
  private func lines(_ pieces: [[UInt8]]) -> [NoteLines.Line] {
    var notes = NoteLines()
    return pieces.flatMap { notes.add($0) } + notes.finish()
  }

  @Test func linesMayComeInAnyPieces() {
    let text = Array("one\n\ntwo\nthree".utf8)
    let whole: [NoteLines.Line] = ["one", "", "two", "three"].map { .text(Array($0.utf8)) }
    for cut in 0...text.count {
      #expect(lines([Array(text[..<cut]), Array(text[cut...])]) == whole)
    }
    #expect(lines(text.map { [$0] }) == whole)
  }

  @Test func aLineHasALimitAndTheNextOneIsFine() {
    let long = [UInt8](repeating: 120, count: NoteLines.longest)
    #expect(lines([long, [10]]) == [.text(long)])
    #expect(lines([long, [120, 10], [121, 10]]) == [.tooLong, .text([121])])
    #expect(lines([long, [120]]) == [.tooLong])
  }

  @Test func allOfThemHaveALimit() {
    let piece = [UInt8](repeating: 10, count: 1 << 16)
    var notes = NoteLines()
    var found: [NoteLines.Line] = []
    for _ in 0..<100 { found += notes.add(piece) }
    #expect(found.count == NoteLines.most + 1)
    #expect(found.last == .tooMuch && !found.dropLast().contains(.tooMuch))
  }

  private func note(_ text: String) throws(Failure) -> ReplyNote {
    try ReplyNote(Array(text.utf8))
  }

  @Test func aToolNeedsAnIdAndAName() throws {
    let tool = ReplyNote.Tool(
      id: "1", name: "ls", label: nil, arguments: .absent, output: nil, exitCode: nil,
      milliseconds: nil, state: .running)
    #expect(try note(#"{"type":"tool_call","id":"1","tool":"ls","more":1}"#) == .tool(tool))
    for (line, reason) in [
      (#"{"type":"tool_call","tool":"ls"}"#, "no id"),
      (#"{"type":"tool_call","id":1,"tool":"ls"}"#, "the id is not a string"),
      (#"{"type":"tool_call","id":"","tool":"ls"}"#, "the id is empty or longer than 200 bytes"),
      (#"{"type":"tool_call","id":"1"}"#, "no tool"),
      (#"{"type":"tool_call","id":"1","tool":"ls","state":"x"}"#, "a state that is not known"),
      (#"{"type":"message","role":"user","text":"x"}"#, "a message whose role is not thinking"),
      (#"{"type":"message","role":"thinking"}"#, "no text"),
      ("[]", "neither a tool_call nor a message nor a turn"),
    ] {
      #expect(throws: Failure(reason)) { try note(line) }
    }
  }

  @Test func argumentsKeepTheirNumbers() throws {
    guard
      case .tool(let tool) = try note(
        #"{"type":"tool_call","id":"1","tool":"ls","arguments":{"n":12345678901234567}}"#)
    else { return #expect(Bool(false)) }
    #expect(tool.arguments == .raw(Array(#"{"n":12345678901234567}"#.utf8)))
  }

  @Test func aCostIsANumberThatCanBe() throws {
    let odd = try note(#"{"type":"turn","usage":{"input_tokens":-1},"usd_cost":-5}"#)
    #expect(odd == .usage(["input": 0]))
  }
}
