import CLibc
import Core
import Records
import Testing

@testable import agent_notify

@Suite("bundles") struct BundlerTests {
  typealias Urgency = NotificationRecord.Urgency

  private func routed(
    _ title: String, _ urgency: Urgency = .urgent, category: String = "x", text: String? = nil
  ) -> RoutedNotice {
    var notice = Notice()
    (notice.title, notice.urgency, notice.category) = (title, urgency.rawValue, category)
    notice.text = text
    let now = LocalTime(Timestamp(seconds: 0))
    return RoutedNotice(notice, RouteInput(urgency: urgency.rawValue, category: "x", now: now))
  }

  private func titles(_ due: [(Delivery, of: [Bundle])]) -> [String] { due.map(\.0.title) }

  @Test("what comes in a row is one, when it is over")
  func settling() {
    var bundler = Bundler(BundleLimits())
    for step in 0..<30 {
      bundler.receive(routed("a"), id: "\(step)", isNow: true, now: Double(step) / 10)
      #expect(bundler.due(now: Double(step) / 10, isEnd: false).isEmpty)
    }
    #expect(bundler.next(now: 3) == 4.9)
    let due = bundler.due(now: 4.9, isEnd: false)
    #expect(titles(due) == ["a ×30"])
    #expect(due[0].of.flatMap(\.ids).count == 30)
    #expect(bundler.isEmpty)
    #expect(bundler.next(now: 5) == nil)
  }

  @Test("what never ends is told after five times as long")
  func endless() {
    var bundler = Bundler(BundleLimits())
    var told: [Double] = []
    for step in 0..<300 {
      let now = Double(step) / 10
      bundler.receive(routed("a"), id: nil, isNow: true, now: now)
      if !bundler.due(now: now, isEnd: false).isEmpty { told.append(now) }
    }
    #expect(told.count == 2)
    #expect(told.first == 10)
  }

  @Test("no more than so many a minute, and none is lost")
  func rate() {
    var bundler = Bundler(BundleLimits(settle: 0, rate: 4))
    var (told, counted) = (0, 0)
    for step in 0..<1200 {
      let now = Double(step) / 10
      bundler.receive(routed("n\(step)", .attention), id: "\(step)", isNow: true, now: now)
      let due = bundler.due(now: now, isEnd: false)
      told += due.count
      counted += due.reduce(0) { $0 + $1.of.flatMap(\.ids).count }
    }
    #expect(told <= 12)
    for (_, bundles) in bundler.due(now: 500, isEnd: true) {
      counted += bundles.flatMap(\.ids).count
    }
    // Of what has no place only the number is known.
    #expect(counted > 400)
    #expect(bundler.isEmpty)
  }

  @Test("a sum counts what it does not name")
  func sums() {
    var bundler = Bundler(BundleLimits(settle: 0, rate: 2))
    for step in 0..<500 {
      bundler.receive(routed("n\(step)", .attention), id: nil, isNow: true, now: 0)
    }
    let due = bundler.due(now: 0, isEnd: false)
    #expect(titles(due) == ["n0", "499 notifications"])
    #expect(due[1].0.body.hasSuffix("and 439 more"))
  }

  @Test("what is urgent is in no sum, and no approval is another")
  func pressing() {
    var bundler = Bundler(BundleLimits(settle: 0, rate: 1))
    for step in 0..<5 {
      bundler.receive(routed("a", category: "approval"), id: nil, isNow: true, now: 0)
      bundler.receive(routed("n\(step)", .attention), id: nil, isNow: true, now: 0)
      bundler.receive(routed("b", text: "\(step)"), id: nil, isNow: true, now: 0)
    }
    let due = bundler.due(now: 0, isEnd: false)
    #expect(titles(due) == ["a", "b ×5", "a", "a", "a", "a", "5 notifications"])
    #expect(due[1].0.body == "0\n1\n2\n3\n4")
  }

  @Test("of many texts none is left out")
  func texts() {
    var bundler = Bundler(BundleLimits())
    for step in 0..<20 {
      bundler.receive(routed("b", text: "\(step)"), id: nil, isNow: true, now: 0)
      bundler.receive(routed("f", .emergency, text: "\(step)"), id: nil, isNow: true, now: 0)
    }
    let due = bundler.due(now: 9, isEnd: true)
    #expect(titles(due) == Array(repeating: "f", count: 20) + ["b ×8", "b ×8", "b ×4"])
  }

  @Test("an emergency waits for nothing and counts for nothing")
  func emergency() {
    var bundler = Bundler(BundleLimits(settle: 9, rate: 1))
    for now in [0.0, 1, 2] {
      bundler.receive(routed("fire", .emergency), id: nil, isNow: true, now: now)
      #expect(titles(bundler.due(now: now, isEnd: false)) == ["fire"])
    }
    bundler.receive(routed("a"), id: nil, isNow: true, now: 3)
    #expect(titles(bundler.due(now: 12, isEnd: false)) == ["a"])
  }

  @Test("what is kept is told in one, but for what is urgent")
  func digest() {
    var bundler = Bundler(BundleLimits(digest: 60))
    bundler.receive(routed("low", .info), id: nil, isNow: false, now: 1)
    bundler.receive(routed("high", .urgent), id: nil, isNow: false, now: 2)
    bundler.receive(routed("low", .info), id: nil, isNow: false, now: 3)
    #expect(bundler.digestTime == 61)
    #expect(bundler.due(now: 99, isEnd: false).isEmpty)
    bundler.receive(routed("next", .attention), id: nil, isNow: false, now: 4)
    let digest = bundler.digest()
    #expect(titles(digest) == ["high", "3 notifications"])
    #expect(digest[1].0.body == "next\nlow ×2")
    #expect(digest[1].of.count == 2)
    #expect(bundler.digest().isEmpty)
  }

  @Test("what was written down is read again, all of it")
  func restoring() throws {
    var name = Array("/tmp/told.XXXXXX".utf8CString)
    mkdtemp(&name)
    let folder = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    let (path, next) = (folder + "/a", folder + "/b")
    defer {
      for name in [path + ".lock", next, next + ".lock"] { unlink(name) }
      rmdir(folder)
    }
    var bundler = Bundler(BundleLimits())
    let written = try ToldFile(path, profiles: [], isBus: true, now: 0)
    for step in 0..<600 {
      bundler.receive(routed("n\(step)", .emergency), id: nil, isNow: true, now: 0)
    }
    let ids = (0..<600).map { "0123456789abcde\($0)" }
    let waiting = bundler.waiting.map {
      Bundle($0.notice, count: 600, urgency: .emergency, hasSound: false, ids: ids, now: 0)
    }
    written.add([])
    try written.save(kept: waiting, others: 0, waiting: waiting)
    // The one who wrote has the lock.
    rename(path, next)
    let read = try ToldFile(next, profiles: [], isBus: true, now: 0)
    #expect(read.waiting.map(\.title) == waiting.map(\.title))
    #expect(read.waiting.allSatisfy { $0.ids == ids })
    #expect(read.kept.count == 600)
  }
}

@Suite("texts of ways") struct WayTextTests {
  @Test("what was escaped is not cut in two, nor is a character")
  func cutting() {
    #expect(NtfyMessage.cut("abc", 3) == "abc")
    #expect(NtfyMessage.cut("abcdef", 5) == "ab…")
    #expect(NtfyMessage.cut("ab\\u{200b}cdefgh", 9) == "ab…")
    #expect(NtfyMessage.cut("éééé", 7) == "éé…")
    #expect(NtfyMessage.cut("abcdef", 0) == "")
  }

  @Test("tmux gets no format, no time and no second command")
  func tmux() {
    #expect(WayText.tmux("#{x} #(y) 100% ;") == "##{x} ##(y) 100%% \\;")
    #expect(WayText.tmux("a\\;") == "a\\\\;")
  }

  @Test("the desktop gets no markup and no escapes")
  func markup() { #expect(WayText.markup("<b>&\\033") == "&lt;b&gt;&amp;\\\\033") }
}
