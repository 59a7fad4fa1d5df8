import Core
import Screen
import Testing

@testable import Agent
@testable import voice_state

/// States that no server should send: spoilt at random, without end, from anywhere.
@Suite struct PanelHostileTests {
  private func sessions(_ value: LooseJSON) throws -> [VoiceSession] {
    VoiceSamples.sessions(of: try JSONValue.parse(text: value.text))
  }

  /// Shows everything there is of a session.
  private func show(
    _ sessions: [VoiceSession], width: Int, _ subject: @autoclosure () -> String
  ) {
    for session in sessions {
      for panel in Panels.all {
        guard let shown = panel.init(session, at: Now(VoiceSamples.now)) else { continue }
        FrameCheck.expect(
          shown.lines(width: width), width: width, "\(panel.name) of \(subject())")
      }
      for name in PromptName.allCases { _ = session.prompt(name)?.whole }
    }
  }

  /// Thousands of spoilt states; a failure names the seed that makes it again.
  @Test(
    arguments: [("full", 1), ("spec", 2), ("troubled", 3), ("hostile", 4)] as [(String, UInt64)])
  func spoiltMembersSpoilNothingElse(_ sample: String, _ series: UInt64) throws {
    let whole = LooseJSON(try VoiceSamples.state(sample))
    for round in 0..<Self.rounds {
      let seed = series << 32 | round
      var spoiler = Spoiler(seed: seed)
      let spoilt = try sessions(spoiler.spoil(whole))
      show(spoilt, width: 20 + Int(round * 7 % 181), "\(sample) spoilt with seed \(seed)")
    }
  }

  static let rounds: UInt64 = 500

  /// Each member of a session on its own: gone, null, of every other type.
  @Test func everyMemberMayBeAnything() throws {
    let whole = LooseJSON(try VoiceSamples.state("full"))
    guard case .object(let state) = whole, case .array(let list) = state[1].value,
      case .object(let members) = list[0]
    else {
      Issue.record("the sample has no session")
      return
    }
    let others: [LooseJSON?] = [
      nil, .null, .bool(true), .number("-1"), .string("\u{1b}[2J"), .array([.null, .number("1")]),
      .object([.init(name: "x", value: .null)]), .array([]), .object([]),
    ]
    for index in members.indices {
      for other in others {
        var changed = members
        if let other { changed[index].value = other } else { changed.remove(at: index) }
        let state = LooseJSON.object([
          .init(name: "sessions", value: .array([.object(changed)]))
        ])
        show(try sessions(state), width: 57, "full with another \(members[index].name)")
      }
    }
  }

  /// No state, or none of ours.
  @Test(arguments: [
    "null", "[]", "7", #""x""#, "{}", #"{"sessions":{}}"#, #"{"sessions":[7,null]}"#,
  ])
  func whatIsNoStateHasNoSession(_ text: String) throws {
    #expect(VoiceSamples.sessions(of: try JSONValue.parse(text: text)).isEmpty)
  }

  /// What long texts are made of, by a name that may be printed.
  private static let units = [
    "letters": "x", "ideographs": "漢", "accents": "e\u{301}", "families": "👩‍👩‍👧‍👦",
    "escapes": "\u{1b}", "overrides": "\u{202e}", "marks": "\u{301}", "words": "a ", "lines": "\n",
  ]

  /// A megabyte in many texts of the largest state: bounded by what is shown.
  @Test(arguments: units.keys.sorted()) func megabytesCostLittle(_ kind: String) throws {
    let unit = try #require(Self.units[kind])
    let long = String(repeating: unit, count: (1 << 20) / unit.utf8.count)
    // Spelt once: tests are not built for speed.
    let quoted = LooseJSON.number(LooseJSON.string(long).text)
    // A few texts at a time, others for each unit.
    var number = unit.utf8.count + unit.unicodeScalars.count
    let state = LooseJSON(try VoiceSamples.state("full")).mapStrings { text in
      number += 1
      return text.hasPrefix("2026-") || number % 37 != 0 ? .string(text) : quoted
    }
    let large = try sessions(state)
    let clock = ContinuousClock()
    let spent = clock.measure { show(large, width: 80, "megabytes of \(kind)") }
    #expect(spent < .seconds(10), "\(spent)")
  }
}

/// Every panel and the whole cockpit, for every sample, at every width: no row
/// is too wide and nothing in it is obeyed by a terminal.
@Suite struct PanelWidthTests {
  static let widths = 20...200

  @Test(arguments: VoiceSamples.names) func everyPanelFitsEveryWidth(_ sample: String) throws {
    for session in try VoiceSamples.sessions(sample) {
      for panel in Panels.all {
        guard let shown = panel.init(session, at: Now(VoiceSamples.now)),
          let byClock = panel.init(session, at: Now(VoiceSamples.now, tellsClock: true))
        else { continue }
        for width in Self.widths {
          FrameCheck.expect(
            shown.lines(width: width), width: width, "\(panel.name) of \(sample)")
          FrameCheck.expect(
            byClock.lines(width: width), width: width, "\(panel.name) of \(sample) by the clock")
        }
      }
    }
  }

  @Test(arguments: VoiceSamples.names) func theCockpitFitsEveryWidth(_ sample: String) throws {
    let sessions = try VoiceSamples.sessions(sample)
    for width in Self.widths where width % 3 == 0 || [20, 100, 160, 200].contains(width) {
      let lines = Cockpit(
        sessions: sessions, now: Now(VoiceSamples.now), panels: Panels.all, width: width
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
