import Core
import Shell
import Testing

@testable import transcript_tail

@Suite struct HostTalkTests {
  /// All answers, whatever the pieces in which they come.
  private func answer<Answer>(
    _ talk: inout HostTalk, _ bytes: inout ArraySlice<UInt8>, every size: Int,
    _ receive: (inout HostTalk) throws -> Answer?
  ) throws -> Answer {
    while true {
      if let answer = try receive(&talk) { return answer }
      try #require(!bytes.isEmpty)
      try talk.append(bytes.prefix(size))
      bytes = bytes.dropFirst(size)
    }
  }

  @Test(arguments: [1, 2, 3, 7, 1000])
  func answersAreWholeWhereverPiecesEnd(_ size: Int) throws {
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
    var rest = Array(text.utf8)[...]
    var talk = HostTalk(nonce: "n1")
    #expect(try answer(&talk, &rest, every: size) { $0.begin() })
    let files = [
      SeenFile(
        path: "/home/a b.jsonl", number: 12, born: 1_600_000_000_000_000_001, size: 5,
        modified: 1_700_000_000_250_000_000),
      SeenFile(path: "/.", number: 13, size: 0, modified: 1_000_000_000),
    ]
    var found = try answer(&talk, &rest, every: size) { $0.files() }
    #expect(found.files == files && found.denied == ["/home/it's", "/home/x"])
    found = try answer(&talk, &rest, every: size) { $0.files() }
    #expect(found.files == [] && found.denied == [])
    var piece = try answer(&talk, &rest, every: size) { try $0.piece(6) }
    #expect(piece.bytes == Array("{}\n\n\0.".utf8) && !piece.isBad)
    #expect(piece.number == 12 && piece.size == 5)
    piece = try answer(&talk, &rest, every: size) { try $0.piece(0) }
    #expect(piece.bytes == [] && piece.number == 7 && piece.size == 1 && piece.isBad)
    found = try answer(&talk, &rest, every: size) { $0.files() }
    #expect(found.files == nil)
  }

  @Test(arguments: [(String(repeating: "x", count: 300), 1), ("a\nb c\n", 2)])
  func nonsenseIsNoAnswer(_ text: String, _ count: Int) throws {
    var talk = HostTalk(nonce: "n1")
    try talk.append(Array(text.utf8)[...])
    #expect(throws: HostFailure.self) { try talk.piece(count) }
  }

  @Test func namesStayWordsOfTheHost() {
    let piece = FollowPlan.Piece(path: "/a'b c\u{10eee9} ", number: 1, offset: 7, count: 9)
    #expect(HostScript.read(piece) == Array("read 7 9 /a'b c".utf8) + [0xe9] + Array(" /\n".utf8))
    let command = HostScript.command(path: "'; touch x; '", nonce: "n")
    #expect(!command.contains("'; touch"))
  }
}
