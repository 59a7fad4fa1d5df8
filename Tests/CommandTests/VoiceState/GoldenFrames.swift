import Core
import Screen
import Testing

@testable import voice_state

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
          sessions: [session], now: VoiceSamples.now, panels: [panel], width: width
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
      sessions: try VoiceSamples.sessions(sample), now: VoiceSamples.now, width: width)
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
