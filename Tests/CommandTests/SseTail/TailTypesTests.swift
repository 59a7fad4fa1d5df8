import Agent
import Core
import Testing

@testable import Web
@testable import sse_tail

/// The small types of sse-tail.
@Suite struct TailTypesTests {
  private func options(_ words: String...) throws -> TailOptions {
    try TailOptions.table.parse(words, TailOptions())
  }

  @Test func optionsAreRead() throws {
    let options = try options(
      "-d", "-e", "a*", "-e", "b", "-n", "3", "-C", "-L", "--flush-partial", "--max-retries",
      "2", "--max-time", "1.5", "--state", "f", "--idle-timeout", "2m", "--retry-wait", "0",
      "--last-event-id", "é", "-X", "REPORT", "--data", "{}", "-H", "a: b", "-H", "@f",
      "--max-event-bytes", "10", "-p", "home", "--token-file", "t", "--allow-plaintext", "-q", "-v",
      "http://a/")
    #expect(options.events == ["a*", "b"])
    #expect(options.follow.count == 3)
    #expect(options.follow.reconnect.maxTime == 1.5)
    #expect(options.follow.reconnect.idleTimeout == 120)
    #expect(options.follow.reconnect.retryWait == 0)
    #expect(options.headers == ["a: b", "@f"])
    #expect(options.target == "http://a/")
    #expect(options.method == "REPORT")
    #expect(options.dataOnly && options.follow.flushPartial)
    #expect(options.follow.lifecycle && options.follow.comments)
  }

  @Test func anArchiveHasItsOwnDefaults() throws {
    let archive = try options("--archive", "f/")
    #expect(archive.target == "activity")
    #expect(archive.follow.receivedAt)
    #expect(archive.state?.path == "f/.state")
    #expect(try options("--archive", "f", "--state", "s", "http://a/").state?.path == "s")
  }

  @Test(arguments: [
    [], ["a", "b"], ["-n", "-1", "a"], ["-n", "x", "a"], ["-n", "", "a"],
    ["--max-time", "soon", "a"], ["--retry-wait", "-1", "a"], ["-X", "G T", "a"], ["-X", "", "a"],
    ["--last-event-id", "a\nb", "a"], ["--archive", "", "a"], ["--archive", "f", "-d", "a"],
    ["--max-event-bytes", "99999999999999999999", "a"],
    ["-p", "a", "-p", "b", "activity"],
  ])
  func mistakesAreNamed(words: [String]) {
    #expect(throws: UsageError.self) { try TailOptions.table.parse(words, TailOptions()) }
  }

  @Test func targets() throws {
    let activity = try Target("activity", url: "http://h:1/base")
    #expect(activity.address.text == "http://h:1/base/api/activity/events")
    #expect(activity.source == "http://h:1/base/api/activity/events")
    #expect(try Target("activity", url: "http://h", profile: "x").source == "activity of x")
    #expect(try Target("voice", url: "http://h").address.text == "http://h/api/voice/events")
    let url = try Target("http://u:p@h/x?token=1", url: nil)
    #expect(url.source == "http://h/x")
    #expect(throws: Failure.self) { try Target("activity", url: nil) }
    #expect(throws: Failure.self) { try Target("activty", url: "http://h") }
    do throws(Failure) {
      _ = try Target("http://u:secret@h:x/", url: nil)
    } catch {
      #expect(!error.message.contains("secret"))
    }
  }
}
