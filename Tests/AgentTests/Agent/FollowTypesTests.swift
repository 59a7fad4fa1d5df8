import CLibc
import Core
import Records
import Testing

@testable import Agent
@testable import Web

/// What following a stream is made of: states, selectors, records.
@Suite struct FollowTypesTests {
  @Test func statesSurvive() throws {
    var state = FollowState(source: "http://h/\"x\"")
    state.lastEventID = "é\n\"7\""
    state.newest = "2026-05-09T12:00:00.000Z"
    #expect(FollowState(Array(state.record.utf8)) == state)
    #expect(state.record.utf8.filter { $0 == 10 }.count == 1)
    for text in ["{", "[]", "{}", "{\"type\":\"sse_state\"}", "nonsense", "{\"type\":1}"] {
      #expect(FollowState(Array(text.utf8)) == nil, "\(text)")
    }
  }

  @Test func selectorsMatchTypes() {
    func matches(_ globs: [String], _ type: String) -> Bool {
      Array(type.utf8).withUnsafeBytes { EventSelector(globs).matches($0) }
    }
    #expect(matches([], ""))
    #expect(matches(["message"], ""))
    #expect(matches(["a*", "b"], "abc"))
    #expect(matches(["a*", "b"], "b"))
    #expect(!matches(["a*", "b"], "c"))
    #expect(!matches(["a"], "a\0b"))
  }

  /// A record as it is written, through a real pipe.
  private func record(
    _ data: [UInt8], type: String = "", id: String = "", dataOnly: Bool = false,
    terminal: Bool = false, profile: String? = nil
  ) throws -> String {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer { close(ends[0]) }
    let writer = RecordWriter(descriptor: ends[1])
    var record = EventRecord(dataOnly: dataOnly, receivedAt: false, isTerminal: terminal)
    let event = HeldEvent(
      type: Array(type.utf8), id: Array(id.utf8), data: data)
    event.withView { view in
      try? record.write(
        view, profile: profile.map { Array(JSONQuote.string($0).utf8) }, time: Timestamp.now,
        to: writer)
    }
    try writer.flush()
    close(ends[1])
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(ends[0], &bytes, bytes.count)
    return String(decoding: bytes[..<max(count, 0)], as: UTF8.self)
  }

  @Test(arguments: [
    ("{\"a\":1.10}", "{\"a\":1.10}"), ("{\"a\":\n1}", "{\"a\": 1}"),
    ("12345678901234567890123", "12345678901234567890123"), ("\"x\"", "\"x\""), ("null", "null"),
    ("", "\"\""), ("hello", "\"hello\""), ("{\"a\":1} x", "\"{\\\"a\\\":1} x\""),
    ("01", "\"01\""), ("a\nb\t\u{1b}[0m", "\"a\\nb\\t\\u001b[0m\""),
    (
      "{\"a\":\"x\ny\"}",
      "\"{\\\"a\\\":\\\"x\\ny\\\"}\""
    ),
  ])
  func dataIsRawWhenItIsJSON(data: String, printed: String) throws {
    #expect(
      try record(Array(data.utf8)) == "{\"event\":\"message\",\"id\":\"\",\"data\":\(printed)}\n")
    #expect(try record(Array(data.utf8), dataOnly: true) == printed + "\n")
  }

  @Test func illFormedTextIsRepaired() throws {
    #expect(try record([0x22, 0xff, 0x22], dataOnly: true) == "\"\u{fffd}\"\n")
    #expect(try record([0x61, 0xff], dataOnly: true) == "\"a\u{fffd}\"\n")
  }

  @Test func aTerminalObeysNothing() throws {
    let data = Array("{\"a\":\"\u{9b}31m\u{202e}é\"}".utf8)
    #expect(
      try record(data, dataOnly: true, terminal: true) == "{\"a\":\"\\u009b31m\\u202eé\"}\n")
    #expect(try record(data, dataOnly: true) == String(decoding: data, as: UTF8.self) + "\n")
    let hostile = try record([49], type: "a\"\u{1b}]0;x\u{7}", id: "\u{202e}")
    #expect(
      hostile
        == "{\"event\":\"a\\\"\\u001b]0;x\\u0007\",\"id\":\"\\u202e\",\"data\":1}\n")
  }

  @Test func aProfileStandsBehindTheID() throws {
    #expect(
      try record([49], id: "7", profile: "a\"")
        == "{\"event\":\"message\",\"id\":\"7\",\"profile\":\"a\\\"\",\"data\":1}\n")
    #expect(try record([49], dataOnly: true, profile: "a") == "1\n")
  }
}
