import Core
import Records
import Testing

@testable import Agent

/// The answer of the OpenResponses endpoint, event by event.
@Suite struct ResponsesReplyTests {
  private func reply(_ events: String...) throws -> ResponsesReply {
    var reply = ResponsesReply()
    for event in events { _ = reply.receive(try JSONValue.parse(text: event)) }
    return reply
  }

  private let created =
    #"{"type":"response.created","response":{"id":"resp_1","status":"in_progress"}}"#

  private func delta(_ text: String, _ item: Int = 0, _ part: Int = 0) -> String {
    #"{"type":"response.output_text.delta","output_index":\#(item),"content_index":\#(part),"delta":"\#(text)"}"#
  }

  @Test func deltasGrow() throws {
    let reply = try reply(created, delta("a"), delta("b"), delta("!", 1), delta("c", 0, 1))
    #expect(reply.text == "abc!")
    #expect(reply.id == "resp_1")
    #expect(reply.end == nil)
  }

  @Test func aCharacterThatIsCutBetweenDeltasIsWhole() throws {
    let reply = try reply(
      created, delta(#"a\uD83D"#), delta(#"x\ud83c"#, 1), delta(#"\udE00b"#),
      delta(#"\udf08"#, 1), delta(#"\ude00"#, 2))
    #expect(reply.text == "a😀bx🌈\u{fffd}")
  }

  @Test func doneIsTheAnswer() throws {
    let done =
      #"{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"x"}"#
    let end = #"{"type":"response.completed","response":{"id":"resp_1","status":"completed"}}"#
    let reply = try reply(delta("ab"), done, end)
    #expect(reply.text == "x")
    #expect(reply.end == .answered)
  }

  @Test func completedIsNoSuccess() throws {
    let failed =
      #"{"type":"response.completed","response":{"status":"failed","error":{"code":"c","message":"m"}}}"#
    #expect(try reply(delta("a"), failed).end == .failed("c: m"))
    let cut = #"{"type":"response.completed","response":{"status":"incomplete"}}"#
    #expect(try reply(cut).end == .failed("the answer is incomplete"))
    let odd = #"{"type":"response.completed","response":{"status":"new"}}"#
    #expect(try reply(odd).end == nil)
  }

  @Test func theFirstFailureDecides() throws {
    let failed = #"{"type":"response.failed","response":{"error":{"message":"one"}}}"#
    let later = #"{"type":"response.completed","response":{"status":"completed"}}"#
    let reply = try reply(failed, delta("a"), later)
    #expect(reply.end == .failed("one"))
    #expect(reply.text == "")
  }

  @Test func aWholeResponseIsRead() throws {
    let whole =
      #"{"id":"r","status":"completed","output":[{"type":"function_call"},{"type":"message","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"}]}],"usage":{"input_tokens":1,"output_tokens":2}}"#
    var reply = ResponsesReply()
    let isOver = reply.receive(response: try JSONValue.parse(text: whole))
    #expect(isOver)
    #expect(reply.text == "ab")
    #expect(reply.usage?.outputTokens == 2)
  }

  @Test func whatIsNotKnownPasses() throws {
    #expect(try reply(#"{"type":"new"}"#, "[]", #"{"delta":"x"}"#).text == "")
  }

  @Test(arguments: [
    (nil, nil, "agent:main:main"), ("heron", nil, "agent:heron:main"),
    (nil, "side", "agent:main:side"), ("heron", "agent:stoat:x", "agent:stoat:x"),
  ])
  func conversationsHaveKeys(agent: String?, thread: String?, key: String) {
    let question = ChatQuestion(thread: thread, agent: agent, text: "", key: "k")
    #expect(ResponsesChat.sessionKey(question) == key)
  }
}
