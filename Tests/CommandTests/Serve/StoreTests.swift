import Core
import Foundation
import Testing

@testable import agent_serve

extension ActionStore {
  fileprivate func actions(_ query: ActionQuery) async throws -> [StoredAction] {
    try await read { try Self.actions(query, $0) }
  }
}

@Suite("The store")
struct StoreTests {
  private func store() throws -> ActionStore { try ActionStore(path: ":memory:") }

  @Test("Actions come back as they were stored")
  func roundTrip() async throws {
    let store = try store()
    var action = Fixture.action(
      guild: "1", content: "a\0b\u{2028}🌿", metadata: #"{"x":1.10}"#, cost: "1.10")
    action.extra = #""level":"warn""#
    #expect(try await store.insert([action, Fixture.action("b")]) == [1, 2])
    let (stored, newest) = try await store.actions(after: 0, limit: 10, bytes: .max)
    #expect(stored.map(\.id) == [1, 2])
    #expect(newest == 2)
    #expect(stored.first?.action == action)
  }

  @Test("Newest first by time, in the order of their ids within a millisecond")
  func order() async throws {
    let store = try store()
    let times = ["05.000", "09.000", "05.000", "01.000"]
    _ = try await store.insert(times.map { Fixture.action(at: "2026-03-01T12:00:\($0)Z") })
    #expect(try await store.actions(ActionQuery()).map(\.id) == [2, 1, 3, 4])
    #expect(try await store.actions(ActionQuery(limit: 2)).map(\.id) == [2, 1])
    let since = ActionQuery(since: "2026-03-01T12:00:05.000Z")
    #expect(try await store.actions(since).map(\.id) == [2, 1, 3])
  }

  @Test("Kinds and the guild select")
  func selects() async throws {
    let store = try store()
    _ = try await store.insert([
      Fixture.action("a", guild: "1"), Fixture.action("b", guild: "2"),
      Fixture.action("c", guild: "1"),
    ])
    #expect(try await store.actions(ActionQuery(kinds: ["a", "b"])).map(\.id) == [1, 2])
    #expect(try await store.actions(ActionQuery(guild: "1")).map(\.id) == [1, 3])
    #expect(try await store.actions(ActionQuery(kinds: ["c'; --"])).isEmpty)
  }

  @Test("A snapshot and the id that it reaches are of one instant")
  func snapshot() async throws {
    let store = try store()
    #expect(try await store.snapshot(limit: 220).newestID == 0)
    _ = try await store.insert((0..<300).map { _ in Fixture.action() })
    let (actions, newest) = try await store.snapshot(limit: 220)
    #expect(actions.count == 220)
    #expect(newest == 300)
  }

  @Test("An id is not used again, whatever was deleted, and a file keeps its actions")
  func reopened() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("s.sqlite").path
    let first = try ActionStore(path: path)
    _ = try await first.insert([Fixture.action("a"), Fixture.action("b")])
    first.close()
    let second = try ActionStore(path: path)
    #expect(try await second.actions(ActionQuery()).map(\.action.kind) == ["a", "b"])
    #expect(try await second.newestID() == 2)
    #expect(try await second.insert([Fixture.action("c")]) == [3])
    second.close()
  }

  @Test(
    "Parameters are clamped, junk is the default",
    arguments: [
      ("", 200), ("limit=abc", 200), ("limit=0", 1), ("limit=-3", 1), ("limit=1001", 1000),
      ("limit=2.9", 2), ("limit=1e2", 100), ("limit=0x10", 16), ("limit=", 1),
      ("limit=%20%35", 5), ("limit=nan", 200), ("limit=1e400", 200), ("limit=7&limit=8", 7),
    ])
  func limits(_ text: String, _ limit: Int) {
    #expect(ActionQuery(QueryParameters(text), now: .now()).limit == limit)
  }

  @Test("sinceHours counts back, fractions too; others do not count")
  func since() {
    let now = Timestamp(rfc3339: "2026-03-01T12:00:00.000Z") ?? .now()
    func since(_ text: String) -> String? { ActionQuery(QueryParameters(text), now: now).since }
    #expect(since("sinceHours=24") == "2026-02-28T12:00:00.000Z")
    #expect(since("sinceHours=0.5") == "2026-03-01T11:30:00.000Z")
    #expect(since("sinceHours=1e9") == "1970-01-01T00:00:00.000Z")
    for junk in ["sinceHours=-4", "sinceHours=0", "sinceHours=x", "sinceHours="] {
      #expect(since(junk) == nil, "\(junk)")
    }
    let query = ActionQuery(QueryParameters("kinds=a,+b,,%2Cc&guildId=+7+"), now: now)
    #expect(query.kinds == ["a", "b", "c"])
    #expect(query.guild == "7")
  }
}
