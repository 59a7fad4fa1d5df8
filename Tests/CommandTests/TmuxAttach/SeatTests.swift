import Core
import Shell
import Testing

@testable import tmux_attach

@Suite struct SeatTests {
  private let size = WindowSize(columns: 40, rows: 10)

  @Test func theStatusLineLeavesTheScreenAsItWas() {
    let line = StatusLine.onLastRow("box: reconnecting", size, isInSequence: false)
    #expect(line.hasPrefix("\u{1b}7") && line.hasSuffix("\u{1b}8"))
    #expect(line.utf8.contains(0x0a) == false)
    #expect(StatusLine.onLastRow("x", size, isInSequence: true).hasPrefix("\u{18}\u{1b}7"))
    let long = StatusLine.here(String(repeating: "x", count: 90), size)
    #expect(long == "\r" + String(repeating: "x", count: 38) + "…\u{1b}[K")
  }

  @Test func textOfTheHostIsNoCommand() {
    let text = StatusLine.text(
      .waiting(why: "\u{1b}[2J\r", attempt: 2, seconds: 3), host: "b\u{7}x")
    #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 })
  }

  @Test func statusIsDrawnOnceAndTakenBack() {
    var status = StatusLine(host: "box", isSilent: false)
    func show(_ state: StatusLine.State) -> String {
      status.show(state, size, onLastRow: false, isInSequence: false)
    }
    #expect(show(.connecting) == "\rbox: connecting\u{1b}[K")
    #expect(show(.connecting) == "")
    #expect(status.clear(size) == "\r\u{1b}[K")
    #expect(status.clear(size) == "")
    #expect(show(.connecting) != "")
    var silent = StatusLine(host: "box", isSilent: true)
    #expect(silent.show(.connecting, size, onLastRow: true, isInSequence: false) == "")
  }

  @Test func theCountdownChangesOnceASecond() {
    let status = StatusLine(host: "box", isSilent: false)
    #expect(status.nextChange(until: 10, now: 7.5) == 8)
    #expect(status.nextChange(until: 10, now: 8) == 9)
    #expect(status.nextChange(until: 10, now: 9.5) == 10)
    #expect(StatusLine(host: "", isSilent: true).nextChange(until: 10, now: 1) == 10)
  }
}
