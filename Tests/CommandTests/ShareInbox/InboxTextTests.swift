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

  private static func line(_ name: String, _ cells: Int, size: Int64? = 200 << 20) -> String {
    ProgressLine.text(name, sent: 12 << 20, size: size, seconds: 3, cells: cells)
  }

  @Test(
    arguments: [
      (199, "shot-of-the-harbour.png  6%  12.00 MB of 200.00 MB  4.0 MB/s  0:47 left"),
      (72, "shot-of-the-harbour.png  6%  12.00 MB of 200.00 MB  4.0 MB/s  0:47 left"),
      (60, "shot-o…r.png  6%  12.00 MB of 200.00 MB  4.0 MB/s  0:47 left"),
      (39, "shot-of…ur.png  6%  4.0 MB/s  0:47 left"),
      (35, "shot-….png  6%  4.0 MB/s  0:47 left"), (19, "6% 4.0 MB/s 0:47"), (15, "6% 0:47"),
      (5, "6%"), (1, "…"), (0, ""), (-1, ""),
    ])
  func progress(_ cells: Int, _ line: String) {
    let got = Self.line("shot-of-the-harbour.png", cells)
    #expect(got == line)
  }

  @Test func progressIsNeverTooLong() {
    let sizes: [Int64?] = [nil, 0, 1, 1023, 1 << 20, 200 << 20, 1 << 40, .max]
    for name in ["a", "1795284337-01a1ff49-017b-7ab0-be9d-c31549d46f8b-\(Self.stem).png"] {
      for size in sizes {
        for sent in [0, 1, 5_000_000, 1 << 45] as [Int64] {
          for seconds in [0, 0.2, 59, 1e7] {
            for cells in -1...120 {
              let text = ProgressLine.text(
                name, sent: sent, size: size, seconds: seconds, cells: cells)
              #expect(text.count <= max(0, cells), "\(text)")
            }
          }
        }
      }
    }
  }

  private static let stem = String(repeating: "x", count: ItemName.longestStem)

  @Test func progressOfWhatHasNoSize() {
    #expect(Self.line("standard input", 60, size: nil) == "standard input  12.00 MB  4.0 MB/s")
    #expect(Self.line("standard input", 20, size: nil) == "12.00 MB 4.0 MB/s")
    // More than was measured.
    #expect(Self.line("a.png", 60, size: 1 << 20) == "a.png  12.00 MB  4.0 MB/s")
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
}
