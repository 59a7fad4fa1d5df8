import Core
import Foundation
import Testing

@testable import agent_serve

@Suite("Documents")
struct DocumentTests {
  private func put(_ document: Document, _ text: String) -> Result<[UInt8], Failure> {
    Result { () throws(Failure) in try document.accept(Array(text.utf8)) }
  }

  @Test("Every document has a path of its own, and what is absent passes its check")
  func paths() {
    let paths = [
      "voice/state", "guilds", "automations", "automations/runs", "public-https", "llm/models",
    ]
    #expect(Set(paths.map { Document(path: "/api/\($0)") }) == Set(Document.allCases))
    for document in Document.allCases {
      #expect(put(document, document.absent) == .success(Array(document.absent.utf8)))
    }
    #expect(Document(path: "/api/voice/state/") == nil)
    #expect(Document(path: "/api/stats") == nil)
  }

  @Test("The last of two equal names counts, escaped or not")
  func doubled() throws {
    let text = Array(#"{"a":1,"\u0061":"2","b":null,"c":" 7 ","d":true,"e":[],"f":1e999}"#.utf8)
    text.withUnsafeBytes { bytes in
      let object = ScanObject(bytes)
      #expect(object?.text("a") == "2")
      #expect(object?.integer("a") == 2)
      #expect(object?.number("b") == 0)
      #expect(object?.text("b") == nil)
      #expect(object?.number("c") == 7)
      #expect(object?.number("d") == 1)
      #expect(object?.number("e") == nil)
      #expect(object?.number("f") == nil)
      #expect(object?.number("none") == nil)
      #expect(object?.isTrue("d") == true)
      #expect(object?.isTrue("e") == true)
      #expect(object?.isTrue("none") == false)
      #expect(object?.json("none") == "null")
    }
  }

  @Test("What was put last is read, also from the store")
  func kept() async throws {
    let store = try ActionStore(path: ":memory:")
    let documents = try await Documents(store)
    #expect(!documents.has(.voiceState))
    let before = documents.version
    let state = "{\"activeCount\":1,\n\"sessions\":[]}\n"
    try await documents.put(.voiceState, Array(#"{"activeCount":0,"sessions":[]}"#.utf8))
    try await documents.put(.voiceState, Array(state.utf8))
    #expect(documents.version > before)
    #expect(documents.bytes(.voiceState) == Array(state.utf8))
    #expect(documents.line(.voiceState) == #"{"activeCount":1,"sessions":[]}"#)
    let again = try await Documents(store)
    #expect(again.bytes(.voiceState) == Array(state.utf8))
    #expect(again.line(.publicHTTPS) == "null")
  }

  @Test("A store of the version before learns which sessions its actions belong to")
  func migration() async throws {
    let path = NSTemporaryDirectory() + "serve-\(UUID().uuidString).sqlite"
    defer { for end in ["", "-wal", "-shm"] { unlink(path + end) } }
    // As GRDB made it, up to 0.11.
    let old = try Database(path: path)
    try old.execute(
      sql: """
        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        INSERT INTO grdb_migrations VALUES ('actions');
        CREATE TABLE actions (
          id INTEGER PRIMARY KEY AUTOINCREMENT, created_at TEXT NOT NULL, guild_id TEXT,
          channel_id TEXT, message_id TEXT, user_id TEXT, kind TEXT NOT NULL, content TEXT,
          metadata TEXT, usd_cost BLOB, extra TEXT NOT NULL DEFAULT '');
        INSERT INTO actions (created_at, kind, metadata) VALUES
          ('2026-01-01T00:00:00.000Z', 'voice_info', '{"sessionId":"a"}'),
          ('2026-01-01T00:00:01.000Z', 'voice_info', '{"x":{"sessionId":"a"}}'),
          ('2026-01-01T00:00:02.000Z', 'voice_info', '{"sessionId":7}'),
          ('2026-01-01T00:00:03.000Z', 'voice_info', '[{"sessionId":"a"}]'),
          ('2026-01-01T00:00:04.000Z', 'voice_info', NULL),
          ('2026-01-01T00:00:05.000Z', 'llm_call', '{"sessionId":"a"}'),
          ('2026-01-01T00:00:06.000Z', 'voice_info', '{"session\\u0049d":"\\u0061"}');
        """)
    old.close()
    let store = try ActionStore(path: path)
    defer { store.close() }
    let events = try await store.read { try VoiceHistory.events("a", $0) }
    #expect(events.map(\.id) == [1])
    #expect(
      try await store.insert([Fixture.action("voice_info", metadata: #"{"sessionId":"a"}"#)]) == [8]
    )
    #expect(try await store.read { try VoiceHistory.events("a", $0) }.map(\.id) == [1, 8])
  }

  @Test("Times move together, and nothing else does")
  func shift() throws {
    let from = try #require(Timestamp(rfc3339: "2026-03-01T00:00:00.000Z"))
    let to = try #require(Timestamp(rfc3339: "2026-03-02T00:00:01.500Z"))
    let text =
      #"["2026-02-28T23:59:59.000Z","2026-03-01T00:00:00.000Z ","2026-03-01T00:00:00Z","9999-12-31T23:59:59.999Z","2026-02-30T00:00:00.000Z",""2026-03-01T00:00:00.250Z""#
    let moved = TimeShift(from: from, to: to).moved(Array(text.utf8))
    #expect(
      String(decoding: moved, as: UTF8.self)
        == #"["2026-03-02T00:00:00.500Z","2026-03-01T00:00:00.000Z ","2026-03-01T00:00:00Z","9999-12-31T23:59:59.999Z","2026-02-30T00:00:00.000Z",""2026-03-02T00:00:01.750Z""#
    )
    #expect(TimeShift(from: from, to: to).moved([]) == [])
    #expect(TimeShift(from: from, to: to).moved([0x22]) == [0x22])
  }
}
