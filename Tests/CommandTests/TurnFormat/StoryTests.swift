import Core
import Records
import Testing

@testable import turn_format

/// Records of an invented agent, said briefly.
enum Say {
  static let origin = RecordOrigin(.pincer)

  static func turn(
    _ id: String, _ state: TurnRecord.State = .running, parent: String? = nil,
    at second: Int64? = nil, _ fill: (inout TurnRecord) -> Void = { _ in }
  ) -> ConversationRecord {
    var turn = TurnRecord(
      origin, id: id, thread: "x", state: state, time: second.map { Timestamp(seconds: $0) })
    turn.parent = parent
    fill(&turn)
    return .turn(turn)
  }

  static func call(
    _ id: String, _ state: ToolCallRecord.State = .running, turn: String? = "t",
    tool: String = "bash", at second: Int64? = nil,
    _ fill: (inout ToolCallRecord) -> Void = { _ in }
  ) -> ConversationRecord {
    var call = ToolCallRecord(
      origin, id: id, thread: "x", tool: tool, state: state,
      time: second.map { Timestamp(seconds: $0) })
    call.turn = turn
    fill(&call)
    return .toolCall(call)
  }

  static func message(
    _ id: String, _ text: String, _ state: MessageRecord.State = .final,
    role: MessageRecord.Role = .assistant, turn: String? = "t", at second: Int64? = nil
  ) -> ConversationRecord {
    var message = MessageRecord(
      origin, id: id, thread: "x", role: role, text: text, state: state,
      time: second.map { Timestamp(seconds: $0) })
    message.turn = turn
    return .message(message)
  }

  static func approval(
    _ id: String, _ state: ApprovalRecord.State = .pending, turn: String? = "t",
    call: String? = nil
  ) -> ConversationRecord {
    var approval = ApprovalRecord(
      origin, id: id, tool: "bash", request: Array(#"{"command":"ls"}"#.utf8),
      decisions: ["approve"], state: state, time: nil)
    (approval.turn, approval.toolCall, approval.thread) = (turn, call, "x")
    return .approval(approval)
  }
}

@Suite struct StoryBookTests {
  private func ids(_ stories: [Story]) -> [String] { stories.map(\.key.id) }

  @Test func aTurnIsCompleteWhenSomethingElseComesBehindItsEnd() {
    var book = StoryBook()
    #expect(book.add(Say.turn("t")).isEmpty)
    #expect(book.add(Say.turn("t", .completed)).isEmpty)
    #expect(book.add(Say.message("m", "the answer")).isEmpty)
    #expect(book.settling != nil)
    let complete = book.add(Say.turn("u"))
    #expect(ids(complete) == ["t"])
    #expect(complete.first?.parts.count == 2)
    #expect(ids(book.open) == ["u"])
    #expect(book.settle().isEmpty)
    #expect(ids(book.finish()) == ["u"] && book.isEmpty)
  }

  @Test func whatWasShownIsNotShownAgain() {
    var book = StoryBook()
    _ = book.add(Say.message("m", "half", .partial))
    _ = book.add(Say.turn("t", .completed))
    #expect(ids(book.settle()) == ["t"])
    #expect(book.add(Say.turn("t")).isEmpty && book.isEmpty)
    // What had not ended then is told when it does, by itself.
    _ = book.add(Say.message("m", "whole"))
    #expect(ids(book.settle()) == ["m"])
    _ = book.add(Say.message("m", "whole"))
    #expect(book.isEmpty)
  }

  @Test func partsOfPartsAreInOneStory() {
    var book = StoryBook()
    _ = book.add(Say.call("c", turn: "inner"))
    #expect(ids(book.open) == ["inner"])
    _ = book.add(Say.turn("inner", parent: "t"))
    #expect(ids(book.open) == ["t"])
    _ = book.add(Say.call("d", turn: "inner"))
    _ = book.add(Say.approval("a", turn: nil, call: "d"))
    #expect(ids(book.open) == ["t"])
    #expect(book.open.first?.parts.count == 4)
    #expect(book.open.first?.turn == nil)
  }

  @Test func aDraftThatBelongsToNoTurnIsGoneWhenItIsReplaced() {
    var book = StoryBook()
    _ = book.add(Say.message("d", "hel", .partial, role: .user, turn: nil))
    #expect(ids(book.open) == ["d"])
    guard case .message(var draft) = Say.message("d", "hello", .aborted, role: .user, turn: nil)
    else { return }
    draft.reason = "replaced by m"
    #expect(book.add(.message(draft)).isEmpty && book.isEmpty)
    _ = book.add(Say.message("m", "hello", role: .user, turn: nil))
    #expect(ids(book.settle()) == ["m"])
  }

  @Test func otherOriginsAreOthers() {
    var book = StoryBook()
    _ = book.add(Say.turn("t"))
    _ = book.add(
      .turn(
        TurnRecord(
          RecordOrigin(.pincer, profile: "p"), id: "t", thread: "x", state: .running, time: nil)))
    #expect(book.open.count == 2)
  }

  @Test func noMoreAreOpenThanAllowed() {
    var book = StoryBook()
    var complete: [Story] = []
    for number in 0...StoryBook.mostOpen { complete += book.add(Say.turn("\(number)")) }
    #expect(ids(complete) == ["0"])
    #expect(book.open.count == StoryBook.mostOpen)
  }

  @Test func aConversationIsKnownByItsName() {
    var book = StoryBook()
    var thread = ThreadRecord(Say.origin, id: "x", time: nil)
    thread.title = "Harbour"
    _ = book.add(.thread(thread))
    _ = book.add(Say.turn("t"))
    #expect(book.thread(of: book.open[0]).title == "Harbour")
  }
}

@Suite struct StoryWalkTests {
  private func story(_ records: ConversationRecord...) throws -> Story {
    var book = StoryBook()
    for record in records { #expect(book.add(record).isEmpty) }
    return try #require(book.finish().first)
  }

  private func shape(_ story: Story) -> [String] {
    story.walk().map { "\($0.depth)\($0.key.id)\($0.isLast ? "." : "")" }
  }

  @Test func partsStandByTimeAndThoseWithoutAfterWhatCameBefore() throws {
    let story = try story(
      Say.turn("t", at: 1), Say.call("late", at: 9), Say.call("none"), Say.call("early", at: 2))
    #expect(shape(story) == ["0early", "0late", "0none."])
  }

  @Test func anApprovalStandsInItsCall() throws {
    let story = try story(
      Say.turn("t"), Say.call("c"), Say.approval("a", call: "c"), Say.approval("b", call: "?"))
    #expect(shape(story) == ["0c", "1a.", "0b."])
  }

  @Test func aDraftGivesWayToTheAnswer() throws {
    let draft = Say.message("d", "hello", .aborted)
    #expect(shape(try story(Say.turn("t"), draft)) == ["0d."])
    #expect(shape(try story(Say.turn("t"), draft, Say.message("m", "hello"))) == ["0m."])
  }

  @Test func knotsAreShownOnce() throws {
    let story = try story(
      Say.turn("a", parent: "b"), Say.turn("b", parent: "a"), Say.call("c", turn: "a"))
    #expect(shape(story).count == 2)
  }

  @Test func totalsCountEachPartOnce() throws {
    func cost(_ dollars: Double) -> (inout TurnRecord) -> Void { { $0.cost = dollars } }
    let parts = [
      Say.turn("child", parent: "t", cost(1)), Say.turn("inner", parent: "child", cost(0.5)),
      Say.turn("bare", parent: "t"), Say.turn("below", parent: "bare", cost(0.25)),
    ]
    var book = StoryBook()
    for record in [Say.turn("t")] + parts { _ = book.add(record) }
    let sum = book.open[0]
    #expect(Totals(sum, steps: sum.walk()).cost == 1.25)
    _ = book.add(Say.turn("t", .running, cost(2)))
    let own = book.open[0]
    #expect(Totals(own, steps: own.walk()).cost == 2)
    #expect(Totals(own, steps: own.walk()).inputTokens == nil)
  }
}
