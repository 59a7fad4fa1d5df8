import Core
import Records
import Testing

@testable import Agent

@Suite struct PDSConversationsTests {
  private let reader = PDSConversations(RecordOrigin(.joelclaw, profile: "me"))
  private let threads = "at://did:web:a.test/dev.joelclaw.agent.thread"
  private let messages = "at://did:web:a.test/dev.joelclaw.agent.message"

  private func row(_ uri: String, _ value: String) -> [UInt8] {
    Array(#"{"uri":"\#(uri)","cid":"c","value":\#(value)}"#.utf8)
  }

  @Test func thread() throws {
    let value = """
      {"title":"Boat","status":"archived","participants":["did:web:a.test",7,"did:web:b.test"],\
      "createdAt":"2026-11-01T00:00:00Z","lastMessageAt":"2026-11-02T00:00:00Z"}
      """
    let record = try #require(reader.thread(row(threads + "/t1", value)))
    #expect(record.id == threads + "/t1")
    #expect(record.title == "Boat")
    #expect(record.state == .archived)
    #expect(record.participants == ["did:web:a.test", "did:web:b.test"])
    #expect(record.last?.rfc3339 == "2026-11-02T00:00:00.000Z")
    #expect(record.time?.rfc3339 == "2026-11-01T00:00:00.000Z")
    #expect(record.origin.profile == "me")
  }

  @Test(arguments: [
    "{}", #"{"title":7,"status":3,"participants":"x","createdAt":1,"lastMessageAt":"soon"}"#,
    #"{"status":"resting"}"#,
  ])
  func poorThread(value: String) throws {
    let record = try #require(reader.thread(row(threads + "/t1", value)))
    #expect(record.title == nil)
    #expect(record.state == nil)
    #expect(record.last == nil)
  }

  @Test func message() throws {
    let said = try #require(
      reader.message(row(messages + "/m1", #"{"threadId":"t1","role":"tool","text":"ok","seq":3}"#))
    )
    #expect(said.thread == "t1")
    #expect(said.message.thread == threads + "/t1")
    #expect(said.message.role == .tool)
    #expect(said.message.state == .final)
    #expect(said.message.author == nil)
    let odd = try #require(
      reader.message(
        row(messages + "/m2", #"{"threadId":"t1","role":"oracle","text":5,"seq":"x"}"#)))
    #expect(odd.message.role == .system)
    #expect(odd.message.author == "oracle")
    #expect(odd.message.text == "")
  }

  @Test(arguments: [
    #"{"uri":"at://a.test/x.y.z/k","value":{"threadId":7}}"#,
    #"{"uri":"at://a.test/x.y.z/k","value":{"threadId":"a/b"}}"#,
    #"{"uri":"at://a.test/x.y.z/k","value":{}}"#, #"{"uri":"at://a.test/x.y.z/k","value":[]}"#,
    #"{"uri":7,"value":{"threadId":"t"}}"#, "7", "",
  ])
  func noMessage(row: String) { #expect(reader.message(Array(row.utf8)) == nil) }

  @Test func order() throws {
    let given = [
      ("m9", "t1", "2"), ("m8", "t2", "1"), ("m7", "t1", "1"), ("m6", "t1", "2"),
      ("m5", "t1", "null"),
    ]
    let said = try given.map { key, thread, seq in
      try #require(
        reader.message(
          row(messages + "/" + key, #"{"threadId":"\#(thread)","text":"\#(key)","seq":\#(seq)}"#)))
    }
    let texts = { (thread: String?, count: Int) in
      PDSConversations.history(said, of: thread, count: count).map(\.text)
    }
    #expect(texts(nil, 50) == ["m7", "m6", "m9", "m5"])
    #expect(texts("t1", 2) == ["m9", "m5"])
    #expect(texts("t2", 50) == ["m8"])
    #expect(texts("t3", 50) == [])
    #expect(PDSConversations.history([], of: nil, count: 5).isEmpty)
  }

  @Test func names() {
    #expect(PDSConversations.key(of: "3kabc") == "3kabc")
    #expect(PDSConversations.key(of: threads + "/3kabc") == "3kabc")
    #expect(PDSConversations.key(of: messages + "/3kabc") == nil)
    #expect(PDSConversations.key(of: threads) == nil)
    #expect(PDSConversations.key(of: "two words") == nil)
  }
}
