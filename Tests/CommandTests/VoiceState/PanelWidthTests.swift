import Core
import Screen
import Testing

@testable import voice_state

/// Every panel and the whole cockpit, for every sample, at every width: no row
/// is too wide and nothing in it is obeyed by a terminal.
@Suite struct PanelWidthTests {
  static let widths = 20...200

  @Test(arguments: VoiceSamples.names) func everyPanelFitsEveryWidth(_ sample: String) throws {
    for session in try VoiceSamples.sessions(sample) {
      for panel in Panels.all {
        guard let shown = panel.init(session, at: VoiceSamples.now) else { continue }
        for width in Self.widths {
          FrameCheck.expect(
            shown.lines(width: width), width: width, "\(panel.name) of \(sample)")
        }
      }
    }
  }

  @Test(arguments: VoiceSamples.names) func theCockpitFitsEveryWidth(_ sample: String) throws {
    let sessions = try VoiceSamples.sessions(sample)
    for width in Self.widths where width % 3 == 0 || [20, 100, 160, 200].contains(width) {
      let lines = Cockpit(
        sessions: sessions, now: VoiceSamples.now, panels: Panels.all, width: width
      ).lines
      FrameCheck.expect(lines, width: width, "cockpit of \(sample)")
      FrameCheck.expect(
        lines.map { Drawing.line($0, depth: .none) }, width: width, "\(sample) in ASCII")
    }
  }

  @Test func whatIsChecked() {
    #expect(FrameCheck.fault(in: "\u{1b}[1;38;5;4mok\u{1b}[0m …", width: 4) == nil)
    #expect(FrameCheck.fault(in: "\u{1b}[2J", width: 9) != nil)
    #expect(FrameCheck.fault(in: "\u{1b}]0;x\u{7}", width: 9) != nil)
    #expect(FrameCheck.fault(in: "a\tb", width: 9) != nil)
    #expect(FrameCheck.fault(in: "a\u{9b}b", width: 9) != nil)
    #expect(FrameCheck.fault(in: "a\u{202e}b", width: 9) != nil)
    #expect(FrameCheck.fault(in: "a\u{2028}b", width: 9) != nil)
    #expect(FrameCheck.fault(in: "漢字", width: 3) == "4 cells")
  }
}
