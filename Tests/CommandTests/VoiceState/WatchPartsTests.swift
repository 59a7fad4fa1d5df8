import Core
import Screen
import Testing

@testable import voice_state

@Suite struct WatchPartsTests {
  @Test func freshness() {
    var link = BackendLink()
    #expect(link.word(at: 0) == "connecting")
    link.phase = .open
    #expect(link.words(at: 0).text == "live, no state yet")
    link.stateAt = 100
    #expect(link.words(at: 103.9).text == "live, state 3 s old")
    #expect(link.words(at: 103.9).mood == .good)
    #expect(link.word(at: 109.99) == "live")
    #expect(link.word(at: 110) == "stale")
    #expect(link.words(at: 110).text == "stale: state 10 s old")
    #expect(link.words(at: 110).mood == .bad)
    #expect(link.words(at: 400).text == "stale: state 5 min old")
    link.phase = .down(reason: "gone", since: 104, retryAt: 112)
    #expect(link.words(at: 108.5).text == "down for 4 s, next try in 4 s, state 8 s old: gone")
    #expect(link.words(at: 113).text == "stale: down for 9 s, trying, state 13 s old: gone")
    #expect(link.word(at: 108) == "down")
    link.phase = .ended("end of the records")
    #expect(link.words(at: 500).text == "end of the records")
    #expect(!link.isStale(at: 500))
  }

  @Test func timeOfRecords() {
    var clock = RecordClock(speed: 2)
    #expect(clock.now(at: 5) == nil)
    let time = Timestamp(seconds: 1000)
    clock.set(time, at: 5)
    #expect(clock.now(at: 8) == Timestamp(seconds: 1006))
    #expect(clock.now(at: 4) == time)
    clock.stop()
    #expect(clock.now(at: 80) == time)
  }

  @Test func timeOfAReplay() {
    let start = Timestamp(seconds: 1000)
    let times = [0, 10, 30].map { start.adding(.seconds($0)) }
    var line = Timeline(times, speed: 2)
    #expect(line.due(0, at: 50) == nil)
    #expect(line.due(1, at: 50) == 55)
    #expect(line.now(at: 53) == start.adding(.seconds(6)))
    #expect(line.words(at: 53) == "0:06/0:30 x2")
    line.pause(at: 53)
    #expect(line.due(1, at: 60) == .infinity)
    #expect(line.words(at: 60) == "0:06/0:30 x2 paused")
    line.pause(at: 60)
    #expect(line.due(1, at: 60) == 62)
    line.change(speed: 2, at: 60)
    #expect(line.due(1, at: 60) == 61)
    line.skip(to: 2, at: 60)
    #expect(line.due(2, at: 60) == nil)
    #expect(line.position(at: 1e9) == 30)
    var quick = Timeline(times, speed: nil)
    #expect(quick.due(2, at: 0) == nil)
    #expect(quick.now(at: 0) == nil)
    var none = Timeline([], speed: 1)
    none.skip(to: 0, at: 0)
    #expect(none.words(at: 3) == "")
  }

  @Test func recordsOverSeveralLines() {
    func joined(_ text: String) -> [String] {
      var joiner = RecordJoiner()
      var found: [String] = []
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        Array(line.utf8).withUnsafeBytes { bytes in
          joiner.add(bytes) { record, number in
            found.append("\(number):" + String(decoding: record, as: UTF8.self))
          }
        }
      }
      joiner.finish { record, number in
        found.append("\(number):" + String(decoding: record, as: UTF8.self))
      }
      return found.filter { !$0.hasSuffix(":") }
    }
    #expect(joined("{\"a\":1}\n{\"b\":2}") == ["1:{\"a\":1}", "2:{\"b\":2}"])
    #expect(joined("{\n  \"a\": \"}\"\n}\n{}") == ["1:{\n  \"a\": \"}\"\n}\n", "4:{}"])
    #expect(joined("[\n  {\n  }\n]\n") == ["1:[\n  {\n  }\n]\n"])
    #expect(joined("{\"cut\":\n{\"b\":2}\n") == ["1:{\"cut\":\n", "2:{\"b\":2}"])
    #expect(joined("{\"a\":\"\\\"{\"}\n}\n1") == ["1:{\"a\":\"\\\"{\"}", "2:}", "3:1"])
    #expect(joined("{\n \"a\"") == ["1:{\n \"a\"\n"])
  }

  @Test func choosingPanels() {
    var chooser = PanelChooser([("a", "A"), ("b", "B"), ("c", "C")], chosen: ["a", "c"])
    var isOpen = chooser.handle(.down)
    #expect(isOpen)
    _ = chooser.handle(.character(" "))
    #expect(chooser.selection == ["a", "b", "c"])
    _ = chooser.handle(.end)
    _ = chooser.handle(.down)
    _ = chooser.handle(.character("x"))
    #expect(chooser.selection == ["a", "b"])
    _ = chooser.handle(.character("a"))
    #expect(chooser.selection == ["a", "b", "c"])
    _ = chooser.handle(.character("a"))
    #expect(chooser.selection == [])
    isOpen = chooser.handle(.enter)
    #expect(!isOpen)
    #expect(chooser.lines(height: 3).count == 3)
    #expect(chooser.lines(height: 3).last?.text.hasPrefix("> [ ] C") == true)
  }

  @Test func theStatusRowFits() {
    var scroll = ScrollState()
    scroll.fit(total: 90, height: 20)
    for width in 1...120 {
      let line = LiveView.status(
        ("stale: state 12 s old", .bad), note: "1:00/2:00", scroll: scroll, keys: "q quit",
        width: width)
      #expect(line.cells <= max(width, 32))
      if width >= 60 { #expect(line.text.hasSuffix("1-20/90  q quit")) }
    }
  }

  @Test func rowsFillTheWindow() {
    for rows in 1...5 {
      var scroll = ScrollState()
      scroll.fit(total: 3, height: max(1, rows - 1))
      let made = LiveView.rows(
        [Line("a"), Line("b"), Line("c")], scroll, status: Line("status"),
        size: WindowSize(columns: 20, rows: rows), depth: .none)
      #expect(made.count == rows)
      #expect(made.last?.text == "status")
    }
  }
}
