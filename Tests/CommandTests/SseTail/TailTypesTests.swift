import CLibc
import Core
import Testing

@testable import Web
@testable import sse_tail

/// The small types of sse-tail.
@Suite struct TailTypesTests {
  private func options(_ words: String...) throws -> TailOptions {
    try TailOptions(TailOptions.table.parse(words))
  }

  @Test func optionsAreRead() throws {
    let options = try options(
      "-d", "-e", "a*", "-e", "b", "-n", "3", "-T", "-C", "-L", "--flush-partial", "--max-retries",
      "2", "--max-time", "1.5", "--state", "f", "--idle-timeout", "2m", "--retry-wait", "0",
      "--last-event-id", "é", "-X", "REPORT", "--data", "{}", "-H", "a: b", "-H", "@f",
      "--max-event-bytes", "10", "-p", "home", "--token-file", "t", "--allow-plaintext", "-q", "-v",
      "http://a/")
    #expect(options.events == ["a*", "b"])
    #expect(options.count == 3)
    #expect(options.maxTime == 1.5)
    #expect(options.idleTimeout == 120)
    #expect(options.retryWait == 0)
    #expect(options.headers == ["a: b", "@f"])
    #expect(options.target == "http://a/")
    #expect(options.method == "REPORT")
    #expect(options.dataOnly && options.flushPartial && options.lifecycle && options.comments)
  }

  @Test func anArchiveHasItsOwnDefaults() throws {
    let archive = try options("--archive", "f/")
    #expect(archive.target == "activity")
    #expect(archive.receivedAt)
    #expect(archive.stateFile == "f/.state")
    #expect(try options("--archive", "f", "--state", "s", "http://a/").stateFile == "s")
  }

  @Test(arguments: [
    [], ["a", "b"], ["-n", "-1", "a"], ["-n", "x", "a"], ["-n", "", "a"],
    ["--max-time", "soon", "a"], ["--retry-wait", "-1", "a"], ["-X", "G T", "a"], ["-X", "", "a"],
    ["--last-event-id", "a\nb", "a"], ["--archive", "", "a"], ["--archive", "f", "-d", "a"],
    ["--max-event-bytes", "99999999999999999999", "a"],
  ])
  func mistakesAreNamed(words: [String]) {
    #expect(throws: UsageError.self) { try TailOptions(TailOptions.table.parse(words)) }
  }

  @Test func targets() throws {
    let activity = try Target("activity", url: "http://h:1/base")
    #expect(activity.address.text == "http://h:1/base/api/activity/events")
    #expect(activity.source == "http://h:1/base/api/activity/events")
    #expect(try Target("activity", url: "http://h", profile: "x").source == "activity of x")
    #expect(try Target("voice", url: "http://h").address.text == "http://h/api/voice/events")
    let url = try Target("http://u:p@h/x?token=1", url: nil)
    #expect(url.source == "http://h/x")
    #expect(throws: SettingsError.self) { try Target("activity", url: nil) }
    #expect(throws: SettingsError.self) { try Target("activty", url: "http://h") }
    do throws(SettingsError) {
      _ = try Target("http://u:secret@h:x/", url: nil)
    } catch {
      #expect(!error.message.contains("secret"))
    }
  }

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
    terminal: Bool = false
  ) throws -> String {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer { close(ends[0]) }
    let writer = RecordWriter(descriptor: ends[1])
    var record = EventRecord(dataOnly: dataOnly, receivedAt: false, isTerminal: terminal)
    let event = ActivityFollower.HeldEvent(
      type: Array(type.utf8), id: Array(id.utf8), data: data, isPartial: false)
    event.withView { view in
      try? record.write(view, time: Timestamp.now, to: writer)
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
}
