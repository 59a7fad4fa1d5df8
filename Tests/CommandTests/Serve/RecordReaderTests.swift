import Core
import Testing

@testable import agent_serve

@Suite("Recordings")
struct RecordReaderTests {
  private let live =
    #"{"kind":"a","content":"x","createdAt":"2026-03-01T12:00:00.000Z"}"#
  private let row =
    #"{"id":4,"created_at":"2026-03-01T12:00:00.000Z","guild_id":null,"kind":"a","content":"x"}"#
  private let older =
    #"{"id":3,"created_at":"2026-03-01T11:00:00.000Z","guild_id":null,"kind":"b"}"#

  private func read(_ lines: [String], unique: Bool) throws -> [RecordReader.Item] {
    var reader = RecordReader(now: Timestamp(seconds: 0), isUnique: unique)
    return try lines.flatMap { line in
      try Array(line.utf8).withUnsafeBytes { try reader.read($0) }
    }
  }

  @Test("A snapshot's rows come oldest first, each action once over events and lists")
  func unique() throws {
    let lines = [
      #"{"event":"activity_snapshot","id":"","data":{"actions":[\#(older)],"stats":{}}}"#,
      #"{"event":"action_event","id":"","data":\#(live),"received_at":"2026-03-01T12:00:01.000Z"}"#,
      #"{"event":"activity_snapshot","id":"","data":{"actions":[\#(row),\#(older)],"stats":{}}}"#,
      #"{"event":"actions_backfill","id":"","data":{"actions":[\#(row),\#(older)]}}"#,
    ]
    let items = try read(lines, unique: true)
    #expect(items.compactMap(\.action?.kind) == ["b", "a"])
    #expect(items.map(\.isListed) == [true, false])
    #expect(items[1].receivedAt == Timestamp(rfc3339: "2026-03-01T12:00:01.000Z"))
    let all = try read(lines, unique: false)
    #expect(all.compactMap(\.action?.kind) == ["b", "a", "b", "a", "b", "a"])
  }

  @Test("Equal bare actions are several actions")
  func equal() throws {
    #expect(try read([live, live, live], unique: true).count == 3)
  }

  @Test("A body is one value over several lines, or a record a line")
  func posted() {
    let now = Timestamp(seconds: 0)
    #expect(PostedActions(Array("{\n\"kind\":\n\"a\"\n}\n".utf8), now: now).actions.count == 1)
    let mixed = PostedActions(Array("{\"kind\":\"a\"}\n\nnope\n{\"kind\":\"b\"}".utf8), now: now)
    #expect(mixed.actions.map(\.kind) == ["a", "b"])
    #expect(mixed.faults.map(\.line) == [3])
    #expect(!mixed.isUnreadable)
    let empty = PostedActions([], now: now)
    #expect(empty.faults.map(\.line) == [1])
    #expect(
      PostedActions(Array("[{\"kind\":\"a\"},{\"kind\":\"b\"}]".utf8), now: now).actions.count == 2)
  }

  @Test("A replay keeps the pauses, divided by the speed")
  func pace() {
    func time(_ text: String) -> Timestamp? { Timestamp(rfc3339: "2026-03-01T12:00:\(text)Z") }
    var pace = ReplayPace(speed: 2)
    #expect(pace.due(time("00.000"), at: 100) == nil)
    #expect(pace.due(time("03.000"), at: 100) == 101.5)
    #expect(pace.due(time("03.000"), at: 109) == 101.5)
    #expect(pace.due(nil, at: 100) == nil)
    // A clock that was set back makes nobody wait.
    #expect(pace.due(Timestamp(rfc3339: "1990-01-01T00:00:00Z"), at: 100) == nil)
    pace = ReplayPace(speed: 0)
    #expect(pace.due(time("00.000"), at: 100) == nil)
    #expect(pace.due(time("59.000"), at: 100) == nil)
  }
}
