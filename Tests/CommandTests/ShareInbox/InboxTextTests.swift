import Core
import Shell
import Testing

@testable import share_inbox

@Suite struct InboxTextTests {
  @Test(arguments: [
    ("/home/ada/.riff/inbox/1-a.png", "/home/ada/.riff/inbox/1-a.png"),
    ("/a b/c", "/a\\ b/c"), ("/it's", "/it\\'s"),
    ("/\"$HOME\"`;&|", "/\\\"\\$HOME\\\"\\`\\;\\&\\|"),
    ("/ü/✓", "/ü/✓"), ("/a\\b", "/a\\\\b"),
    ("/~*?[x]{y}!#()<>", "/\\~\\*\\?\\[x\\]\\{y\\}\\!\\#\\(\\)\\<\\>"),
  ])
  func aPathIsOneWord(_ path: String, _ word: String) {
    #expect(PathText.word(path) == word)
  }

  @Test func theFormatHoldsThePath() {
    #expect(PathText.text("{path} ", path: "/a b") == "/a\\ b ")
    #expect(PathText.text("@{path}, {path}?", path: "/a") == "@/a, /a?")
    #expect(PathText.text("{path}", path: "/{path}") == "/\\{path\\}")
  }

  @Test(
    arguments: [
      (209_715_201, 209_715_200, "too large (201 MB > 200 MB)"),
      (220_200_960, 209_715_200, "too large (210 MB > 200 MB)"),
      (1_048_577, 1_048_576, "too large (2 MB > 1 MB)"), (12, 10, "too large (12 B > 10 B)"),
      (1, 0, "too large (1 B > 0 B)"),
    ] as [(Int64, Int64, String)])
  func tooLarge(_ size: Int64, _ most: Int64, _ text: String) {
    #expect(OpenItem.tooLarge(size, maxSize: most) == text)
  }

  @Test func progress() {
    #expect(
      ProgressLine.text("a.png", sent: 0, size: 2_000_000, seconds: 0)
        == "a.png  0 B of 1.91 MB  0 B/s")
    let text = ProgressLine.text("a.png", sent: 1_000_000, size: 2_000_000, seconds: 2)
    #expect(text.hasSuffix("/s  0:02 left"))
  }

  @Test func aLinkThatIsLostIsTriedAgainLaterAndLater() {
    var schedule = WatchSchedule()
    #expect(schedule.isDue(0))
    var result = Drain.Result()
    result.failure = .linkLost(why: "gone")
    var waits: [Double] = []
    for _ in 0..<7 {
      schedule.drained(result, now: 100)
      waits.append(schedule.next - 100)
      // What arrives meanwhile does not bring it nearer.
      schedule.hinted(now: 100.5)
      #expect(schedule.next - 100 == waits.last)
    }
    #expect(waits == [1, 2, 4, 8, 15, 15, 15])
    result.failure = nil
    schedule.drained(result, now: 200)
    #expect(schedule.next == 200 + WatchSchedule.rescan)
    schedule.hinted(now: 201)
    #expect(schedule.next == 201)
    result.left = 1
    schedule.drained(result, now: 300)
    #expect(schedule.next == 300 + WatchSchedule.itemRetry)
    result.failure = .noSession("riff")
    schedule.drained(result, now: 400)
    #expect(schedule.next == 400 + WatchSchedule.sessionPoll)
  }

  @Test func aLineIsNewOnce() {
    let said = Said()
    #expect(said.isNew("a"))
    #expect(said.isNew("b"))
    #expect(!said.isNew("a"))
  }
}
