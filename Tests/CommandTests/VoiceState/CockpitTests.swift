import Core
import Screen
import Testing

@testable import Agent
@testable import voice_state

/// When the tests of panels look at their sessions.
let voiceTestNow = Timestamp(rfc3339: "2026-05-09T18:30:30.000Z") ?? Timestamp(seconds: 0)

/// A session of JSON, for tests of panels.
func voiceSession(_ text: String) throws -> VoiceSession {
  VoiceSession(try JSONValue.parse(text: text))
}

/// A panel of so many lines.
private protocol Sized: Panel {
  static var count: Int { get }
  init()
}

extension Sized {
  static var title: String { name }
  init?(_ session: VoiceSession, at now: Now) {
    if session.mode == "without \(Self.name)" { return nil }
    self.init()
  }
  func lines(width: Int) -> [Line] {
    (1...Self.count).map { Line(Self.name + " \($0) " + String(repeating: "x", count: 300)) }
  }
}

private struct Tall: Sized {
  static let name = "tall"
  static let count = 6
}

private struct Low: Sized {
  static let name = "low"
  static let count = 1
}

private struct Middle: Sized {
  static let name = "middle"
  static let count = 3
}

@Suite struct CockpitTests {
  private func cockpit(
    _ width: Int, _ panels: [any Panel.Type] = [Tall.self, Low.self, Middle.self],
    _ sessions: [String] = ["{}"]
  ) throws -> Cockpit {
    Cockpit(
      sessions: try sessions.map { try voiceSession($0) }, now: Now(voiceTestNow), panels: panels,
      width: width)
  }

  @Test(arguments: [(20, 1), (40, 1), (99, 1), (100, 2), (132, 2), (159, 2), (160, 3), (200, 3)])
  func columns(_ width: Int, _ count: Int) throws {
    let lines = try cockpit(width).lines
    #expect(lines.count == [1: 13, 2: 7, 3: 7][count])
    #expect(lines.allSatisfy { $0.cells <= width })
  }

  @Test func panelsKeepTheirOrder() throws {
    let lines = try cockpit(132).lines.map(\.text)
    #expect(lines[0].hasPrefix("── tall ───") && lines[0].contains("   ── low ───"))
    #expect(lines[2].contains("── middle ──"))
  }

  @Test func narrowScreensCountAsTwenty() throws {
    #expect(try cockpit(3).lines.allSatisfy { $0.cells <= 20 })
  }

  @Test func sessionsStandBelowEachOther() throws {
    let lines = try cockpit(40, [Low.self], ["{}", #"{"mode":"without low"}"#, "{}"]).lines
    #expect(lines.map { $0.text.prefix(6) } == ["── low", "low 1 ", "", "", "── low", "low 1 "])
    #expect(try cockpit(40, [Low.self], []).lines.isEmpty)
  }

  @Test func panelsStayWhereTheyAre() throws {
    var arrangements: [Cockpit.Arrangement] = []
    let cockpit = try cockpit(132)
    let first = cockpit.frame(keeping: &arrangements)
    #expect(arrangements == [.init(panels: ["tall", "low", "middle"], columns: [1, 2])])
    // Not the best, yet not so bad that panels had to move.
    arrangements[0].columns = [2, 1]
    #expect(cockpit.frame(keeping: &arrangements).count == 9)
    #expect(arrangements[0].columns == [2, 1])
    // Other panels, or another number of columns: arranged anew.
    arrangements[0].panels = ["tall", "low"]
    #expect(cockpit.frame(keeping: &arrangements) == first)
  }

  @Test func signsInASCII() throws {
    let session = try voiceSession(
      #"{"mode":"gemini_realtime","startedAt":"2026-05-09T18:30:02Z"}"#)
    let lines = Cockpit(
      sessions: [session], now: Now(voiceTestNow), panels: [HeadPanel.self], width: 40
    ).lines.map { Drawing.line($0, depth: .none) }
    #expect(lines.first?.text == "== o Idle · Gemini RT ======== up 0:28 =")
  }

  @Test(arguments: [40, 132]) func everySignHasItsASCII(_ width: Int) throws {
    // The sample's own texts are ASCII once this is taken for it.
    for sample in ["full", "troubled", "spec", "minimal"] {
      let text = String(decoding: try VoiceSamples.bytes(sample), as: UTF8.self)
      let ascii = String(text.unicodeScalars.map { $0.isASCII ? Character($0) : "x" })
      let sessions = VoiceSamples.sessions(of: try JSONValue.parse(text: ascii))
      let cockpit = Cockpit(
        sessions: sessions, now: Now(VoiceSamples.now), panels: Panels.all, width: width)
      for line in cockpit.lines {
        let shown = Drawing.line(line, depth: .none).text
        #expect(
          shown.unicodeScalars.allSatisfy { $0.isASCII || $0 == "·" }, "\(sample): \(shown)")
      }
    }
  }

  @Test func panelsHaveNamesOfTheirOwn() {
    let names = Panels.all.map { $0.name }
    #expect(Set(names).count == names.count)
    for panel in Panels.all {
      #expect(panel.name.allSatisfy { $0.isLowercase && $0.isASCII })
      #expect(Panels.named(panel.name) == panel)
      #expect(!panel.title.isEmpty && panel.leastWidth <= 132)
    }
    #expect(Panels.named("nothing") == nil)
  }
}
