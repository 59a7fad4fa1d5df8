import Core
import Testing

@testable import transcript_tail

@Suite struct FollowPlanTests {
  private func file(
    _ path: String, _ size: Int64, at time: Int64 = 0, number: UInt64 = 1, born: Int64 = 0
  ) -> SeenFile {
    SeenFile(path: path, number: number, born: born, size: size, modified: time)
  }

  /// What is read of a plan, each file's bytes being line feeds.
  private func read(
    _ plan: FollowPlan, atMost most: Int = 4, without gone: String? = nil
  ) throws -> [String] {
    var pieces: [String] = []
    plan.most = most
    let output = TranscriptOutput(TranscriptOptions(), state: nil, Diagnostics(program: "test"))
    try plan.read(to: output) { piece, take in
      if piece.path == gone { return }
      pieces.append("\(piece.path) \(piece.offset)+\(piece.count)")
      try [UInt8](repeating: 10, count: piece.count).withUnsafeBytes(take)
    }
    return pieces
  }

  @Test func theNewestSessionIsReadAndThenWhatIsAdded() throws {
    let plan = FollowPlan(.init())
    var seen = [file("a", 6, at: 2), file("b", 9, at: 1), file("agent-x.jsonl", 9, at: 3)]
    #expect(plan.look(seen) == [])
    #expect(try read(plan) == ["a 0+4", "a 4+2"])
    seen[1].size = 10
    seen.append(file("c", 1))
    #expect(plan.look(seen) == [])
    #expect(try read(plan).sorted() == ["b 8+2", "c 0+1"])
    #expect(try read(plan) == [])
  }

  @Test func allAreReadTheNewestLast() throws {
    let plan = FollowPlan(.init(all: true))
    _ = plan.look([file("a", 1, at: 3), file("b", 2, at: 1), file("c", 3, at: 2)])
    #expect(try read(plan) == ["b 0+2", "c 0+3", "a 0+1"])
  }

  @Test func aRunGoesOnWhereTheLastOneWas() throws {
    let marks = [
      FileMark(path: "a", number: 1, offset: 4), FileMark(path: "b", number: 1, offset: 4),
      FileMark(path: "c", number: 1, offset: 4), FileMark(path: "gone", number: 1, offset: 4),
    ]
    let plan = FollowPlan(.init(), resuming: marks)
    let losses = plan.look([
      file("a", 6), file("b", 3), file("c", 9, number: 2), file("d", 1), file("e", 0),
    ])
    #expect(
      losses == [
        .init(path: "b", reason: "truncated", offset: 4),
        .init(path: "c", reason: "replaced", offset: 4),
      ])
    let pieces = try read(plan, atMost: 100).sorted()
    #expect(pieces == ["a 3+3", "b 0+3", "c 0+9", "d 0+1"])
    #expect(plan.progress.map(\.path) == ["a", "b", "c", "d", "e", "gone"])
    #expect(plan.progress.last?.offset == 4)
    #expect(plan.look([file("gone", 6)]) == [])
    #expect(try read(plan) == ["gone 3+3"], "what comes back goes on, too")
  }

  @Test func nothingIsForgottenBeforeTheFirstLook() {
    let marks = [
      FileMark(path: "a", number: 1, offset: 4), FileMark(path: "b", number: 2, born: 7, offset: 5),
    ]
    #expect(FollowPlan(.init(all: true), resuming: marks.reversed()).progress == marks)
  }

  @Test func anotherFileMayHaveTheNumberOfOneThatIsGone() throws {
    let plan = FollowPlan(.init(), resuming: [FileMark(path: "a", number: 1, born: 5, offset: 4)])
    #expect(plan.look([file("a", 9, born: 6)]).map(\.reason) == ["replaced"])
    #expect(plan.look([file("a", 9, born: 0)]) == [], "where that is not known, it is the same")
    #expect(plan.look([file("a", 9, born: 8)]).map(\.reason) == ["replaced"])
    #expect(plan.progress.map(\.born) == [8])
  }

  @Test func namesThatLookAlikeAreTwoFiles() throws {
    let (one, other) = ("caf\u{e9}", "cafe\u{301}")
    let plan = FollowPlan(.init(all: true))
    for pieces in [2, 0] {
      #expect(plan.look([file(one, 1, number: 1), file(other, 2, number: 2)]) == [])
      #expect(try read(plan).count == pieces)
      #expect(plan.progress.map(\.offset) == [2, 1])
    }
    #expect(plan.recent.count == 2)
  }

  @Test func subagentsGoWithTheirSession() throws {
    let agent = "p/s/subagents/agent-x.jsonl"
    var plan = FollowPlan(.init())
    _ = plan.look([
      file("p/s.jsonl", 1, at: 1), file(agent, 2, at: 9), file("p/t.jsonl", 3, at: 5),
      file("p/t/subagents/agent-x.jsonl", 4, at: 2),
    ])
    #expect(try read(plan) == ["p/s.jsonl 0+1", "\(agent) 0+2"])

    plan = FollowPlan(.init(all: true))
    _ = plan.look([
      file("p/s.jsonl", 1, at: 4), file(agent, 2, at: 3), file("p/t.jsonl", 3, at: 5),
    ])
    #expect(try read(plan) == ["p/s.jsonl 0+1", "\(agent) 0+2", "p/t.jsonl 0+3"])
  }

  @Test func aFileThatIsGoneMeanwhileIsPassedOver() throws {
    let plan = FollowPlan(.init(all: true))
    _ = plan.look([file("a", 1, at: 1), file("b", 2, at: 2)])
    #expect(try read(plan, without: "a") == ["b 0+2"])
    #expect(plan.look([file("a", 1), file("b", 2)]) == [])
    #expect(try read(plan) == ["a 0+1"])
  }

  @Test func aStateIsReadAsItWasWritten() throws {
    let marks = [
      FileMark(path: "/x/a\n\u{1b}\u{10eee9}\".jsonl", number: .max, offset: 1 << 60),
      FileMark(path: "", number: 0, born: 1_700_000_000_123_456_789, offset: 0),
    ]
    let parsed = try #require(TranscriptState.parse(TranscriptState.record("box:x", marks)))
    #expect(parsed.source == "box:x")
    #expect(parsed.marks == marks)
    #expect(TranscriptState.parse(Array("{}".utf8)) == nil)
    #expect(TranscriptState.parse(Array("".utf8)) == nil)
  }

  @Test(arguments: [
    ("/a:b", TranscriptPlace.here("/a:b")), ("./a:b", .here("./a:b")), ("a", .here("a")),
    ("box:", .host("box", path: "")), ("ada@box:x y:z", .host("ada@box", path: "x y:z")),
    ("[::1]:x", .host("[::1]", path: "x")), ("ada@[::1]:", .host("ada@[::1]", path: "")),
    ("[ab]c:x", .here("[ab]c:x")), (".:x", .host(".", path: "x")),
  ])
  func aColonMakesAHost(_ text: String, _ place: TranscriptPlace) throws {
    #expect(try TranscriptPlace(text, home: "/home") == place)
  }

  @Test func nothingIsNoPlace() {
    #expect(throws: UsageError.self) { try TranscriptPlace("", home: "/") }
    #expect(throws: UsageError.self) { try TranscriptPlace(":x", home: "/") }
  }
}
