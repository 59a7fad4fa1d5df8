import Core
import Testing

@testable import transcript_tail

@Suite struct HostTalkTests {
  /// All answers to questions, whatever the pieces in which they come.
  private func answers(
    _ bytes: [UInt8], _ questions: [HostTalk.Question], every size: Int
  ) -> [HostTalk.Answer] {
    var talk = HostTalk(nonce: "n1")
    var questions = questions[...]
    var found: [HostTalk.Answer] = []
    talk.expect(questions.removeFirst())
    var rest = bytes[...]
    while !rest.isEmpty {
      var piece = rest.prefix(size)
      rest = rest.dropFirst(size)
      while let answer = talk.take(piece) {
        found.append(answer)
        guard let next = questions.popFirst() else { return found }
        talk.expect(next)
        piece = []
      }
    }
    return found
  }

  @Test(arguments: [1, 2, 3, 7, 1000])
  func answersAreWholeWhereverPiecesEnd(_ size: Int) {
    let text = """
      noise transcript-tail-n2
      transcript-tail-n1
      12 5 1700000000.25 1600000000.000000001 /home/a b.jsonl
      13 0 1 - /.
      x 1 1 1 /bad
      14 1 1 1 relative
      ! find: '/home/it's': Permission denied
      ! find: /home/x: Permission denied
      ! find: Permission denied
      ! 15 1 1 1 /home/y
      .
      .
      {}

      \0.12 5 good
      7 1 bad
      ?
      .

      """
    let found = answers(
      Array(text.utf8),
      [.greeting, .look, .look, .piece(count: 6), .piece(count: 0), .look], every: size)
    #expect(
      found == [
        .greeting,
        .files(
          [
            SeenFile(
              path: "/home/a b.jsonl", number: 12, born: 1_600_000_000_000_000_001, size: 5,
              modified: 1_700_000_000_250_000_000),
            SeenFile(path: "/.", number: 13, size: 0, modified: 1_000_000_000),
          ], denied: ["/home/it's", "/home/x"]),
        .files([]),
        .piece(Array("{}\n\n\0.".utf8), number: 12, size: 5, isBad: false),
        .piece([], number: 7, size: 1, isBad: true),
        .files(nil),
      ])
  }

  @Test func nonsenseIsNoAnswer() {
    let line = Array(String(repeating: "x", count: 300).utf8)
    #expect(answers(line, [.piece(count: 1)], every: 50) == [.nonsense])
    #expect(answers(Array("a\nb c\n".utf8), [.piece(count: 2)], every: 50) == [.nonsense])
  }

  @Test func namesStayWordsOfTheHost() {
    let piece = FollowPlan.Piece(path: "/a'b c\u{10eee9} ", number: 1, offset: 7, count: 9)
    #expect(HostScript.read(piece) == Array("read 7 9 /a'b c".utf8) + [0xe9] + Array(" /\n".utf8))
    let command = HostScript.command(path: "'; touch x; '", nonce: "n")
    #expect(!command.contains("'; touch"))
  }
}
