import CLibc
import Core
import Screen
import Testing

@testable import Agent
@testable import voice_state

@Suite struct GoldenPanelTests {
  static let names = Panels.all.map { $0.name }

  private func panel(_ name: String) throws -> any Panel.Type { try #require(Panels.named(name)) }

  @Test(arguments: names) func plain(_ name: String) throws {
    let text = try GoldenFrames.panel(
      panel(name),
      [
        ("full", VoiceSamples.widths), ("spec", [80]), ("troubled", [80]), ("minimal", [80]),
        ("scripts", VoiceSamples.widths), ("hostile", [40, 80]), ("null", [80]), ("wrong", [80]),
      ], .none)
    GoldenFile.expect(text, "voice/\(name).txt")
  }

  @Test(arguments: names) func coloured(_ name: String) throws {
    let text = try GoldenFrames.panel(
      panel(name),
      [("full", VoiceSamples.widths), ("troubled", [80]), ("minimal", [80]), ("scripts", [80])],
      .indexed)
    GoldenFile.expect(text, "voice/\(name).colour.txt")
  }
}

@Suite struct GoldenCockpitTests {
  static let samples = ["full", "scripts", "troubled", "minimal"]

  @Test(arguments: samples, VoiceSamples.widths) func plain(_ sample: String, _ width: Int) throws {
    GoldenFile.expect(
      try GoldenFrames.cockpit(sample, width: width, .none), "voice/cockpit-\(sample)-\(width).txt")
  }

  @Test(arguments: samples, VoiceSamples.widths)
  func coloured(_ sample: String, _ width: Int) throws {
    GoldenFile.expect(
      try GoldenFrames.cockpit(sample, width: width, .indexed),
      "voice/cockpit-\(sample)-\(width).colour.txt")
  }

  @Test func noSessionIsAnEmptyFrame() throws {
    #expect(try GoldenFrames.cockpit("empty", width: 80, .none) == "")
  }

  @Test func aChangeIsSeenLineByLine() {
    let difference = GoldenFile.difference("a\nb\nc\n", "a\nB\nc\n")
    #expect(difference == "-2\t|b|\n+2\t|B|")
    #expect(GoldenFile.difference("a\n", "a\n") == "")
  }
}

/// What is kept of panels and cockpits as golden files: frames as a person can
/// read them, escape sequences made visible.
enum GoldenFrames {
  /// The frames of one panel: each sample at each width.
  ///
  /// - Parameters:
  ///   - panel: which panel.
  ///   - shots: the samples and the widths at which they are kept.
  ///   - depth: with colours, sequences are written as `\e[2m`.
  static func panel(
    _ panel: any Panel.Type, _ shots: [(sample: String, widths: [Int])], _ depth: ColourDepth
  ) throws -> String {
    var out = ""
    for shot in shots {
      // Of two sessions the first is wrong as a whole, the last in its depth.
      let session = try #require(try VoiceSamples.sessions(shot.sample).last)
      for width in shot.widths {
        out += "# \(shot.sample) at \(width)\n"
        let lines = Cockpit(
          sessions: [session], now: Now(VoiceSamples.now), panels: [panel], width: width
        ).lines
        if lines.isEmpty { out += "(nothing)\n" }
        out += text(lines, depth) + "\n"
      }
    }
    return out
  }

  /// The whole frame of a sample, its lines alone.
  static func cockpit(_ sample: String, width: Int, _ depth: ColourDepth) throws -> String {
    let cockpit = Cockpit(
      sessions: try VoiceSamples.sessions(sample), now: Now(VoiceSamples.now), width: width)
    return text(cockpit.lines, depth)
  }

  /// Lines as the command writes them, ESC as `\e`.
  static func text(_ lines: [Line], _ depth: ColourDepth) -> String {
    lines.map { line in
      var out = ""
      let shown = Drawing.line(line, depth: depth).render(width: nil, depth: depth)
      for scalar in shown.unicodeScalars {
        if scalar == "\u{1b}" { out += "\\e" } else { out.unicodeScalars.append(scalar) }
      }
      return out + "\n"
    }.joined()
  }
}

/// Frames kept as files under Tests/golden, to be seen by a person once and held
/// against ever after.
///
/// A frame that shall change is written anew by
/// `AGENTUTILS_UPDATE_GOLDEN=1 swift test --disable-xctest --filter Golden`;
/// `git diff` then shows what the change does to the eye.
enum GoldenFile {
  static var isUpdating: Bool { getenv("AGENTUTILS_UPDATE_GOLDEN") != nil }

  /// Compares a text with the file, or writes the file when asked to.
  ///
  /// - Parameters:
  ///   - text: what is shown now, ending with a line end.
  ///   - name: the file's path below Tests/golden.
  static func expect(
    _ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let path = "\(VoiceSamples.tests)/golden/\(name)"
    if isUpdating {
      #expect(write(text, to: path), "\(path) cannot be written", sourceLocation: sourceLocation)
      return
    }
    guard let bytes = VoiceSamples.read(path) else {
      Issue.record(
        "no golden file \(name): AGENTUTILS_UPDATE_GOLDEN=1 makes it",
        sourceLocation: sourceLocation)
      return
    }
    let kept = String(decoding: bytes, as: UTF8.self)
    guard kept != text else { return }
    Issue.record("\(name) has changed:\n\(difference(kept, text))", sourceLocation: sourceLocation)
  }

  /// The lines that differ, `-` as kept and `+` as shown now, with their number.
  static func difference(_ kept: String, _ shown: String) -> String {
    let old = kept.split(separator: "\n", omittingEmptySubsequences: false)
    let new = shown.split(separator: "\n", omittingEmptySubsequences: false)
    var removed: Set<Int> = []
    var inserted: Set<Int> = []
    for change in new.difference(from: old) {
      switch change {
      case .remove(let offset, _, _): removed.insert(offset)
      case .insert(let offset, _, _): inserted.insert(offset)
      }
    }
    var rows: [String] = []
    var (before, after) = (0, 0)
    while before < old.count || after < new.count {
      if removed.contains(before) {
        rows.append("-\(before + 1)\t|\(old[before])|")
        before += 1
      } else if inserted.contains(after) {
        rows.append("+\(after + 1)\t|\(new[after])|")
        after += 1
      } else {
        (before, after) = (before + 1, after + 1)
      }
    }
    let most = 40
    let rest = rows.count > most ? ["… and \(rows.count - most) lines more"] : []
    return (rows.prefix(most) + rest).joined(separator: "\n")
  }

  private static func write(_ text: String, to path: String) -> Bool {
    guard let file = fopen(path, "wb") else { return false }
    let bytes = Array(text.utf8)
    let written = fwrite(bytes, 1, bytes.count, file)
    return fclose(file) == 0 && written == bytes.count
  }
}
