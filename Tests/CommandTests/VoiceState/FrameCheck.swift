import Screen
import Testing

/// What holds for every row that a terminal is given.
enum FrameCheck {
  /// What is wrong with a row, nil when nothing is: only our own SGR sequences,
  /// no other control, no bidirectional control, not wider than the terminal.
  ///
  /// - Parameters:
  ///   - row: bytes for the terminal, without a line end.
  ///   - width: the terminal's cells.
  static func fault(in row: String, width: Int) -> String? {
    var text = ""
    var scalars = row.unicodeScalars[...]
    while let scalar = scalars.first {
      scalars = scalars.dropFirst()
      if scalar == "\u{1b}" {
        guard let rest = afterSGR(scalars) else { return "an escape sequence that is not ours" }
        scalars = rest
        continue
      }
      if let name = forbidden(scalar) { return name }
      text.unicodeScalars.append(scalar)
    }
    let cells = CellWidth.of(text)
    return cells > width ? "\(cells) cells" : nil
  }

  /// What follows `[` digits and semicolons `m`, nil for anything else.
  private static func afterSGR(_ scalars: Substring.UnicodeScalarView)
    -> Substring.UnicodeScalarView?
  {
    guard scalars.first == "[" else { return nil }
    let rest = scalars.dropFirst().drop { ("0"..."9").contains($0) || $0 == ";" }
    guard rest.first == "m" else { return nil }
    return rest.dropFirst()
  }

  private static func forbidden(_ scalar: Unicode.Scalar) -> String? {
    switch scalar.value {
    case 0..<0x20, 0x7f...0x9f: "a control"
    case 0x61c, 0x200e, 0x200f, 0x202a...0x202e, 0x2066...0x2069: "a bidirectional control"
    case 0x2028, 0x2029: "a line separator"
    case 0xfeff, 0xfff9...0xfffb, 0xe0000...0xe007f: "an invisible character"
    default: nil
    }
  }

  /// Checks every line of a frame.
  ///
  /// - Parameters:
  ///   - lines: the frame.
  ///   - width: what it was made for; lines must fit by themselves, uncut.
  ///   - subject: what is checked, for the message.
  static func expect(
    _ lines: [Line], width: Int, _ subject: @autoclosure () -> String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for (index, line) in lines.enumerated() {
      guard let reason = fault(in: line, width: width) else { continue }
      Issue.record(
        "\(subject()) at \(width): line \(index + 1) has \(reason): \(line.text.debugDescription)",
        sourceLocation: sourceLocation)
      return
    }
  }

  /// What is wrong with a line before its styles are written, which is as good:
  /// they are written by `Style` alone.
  private static func fault(in line: Line, width: Int) -> String? {
    for span in line.spans {
      let isPlain = span.text.utf8.withContiguousStorageIfAvailable { bytes in
        !bytes.contains { $0 < 0x20 || $0 >= 0x7f }
      }
      if isPlain == true { continue }
      for scalar in span.text.unicodeScalars {
        if let name = forbidden(scalar) { return name }
      }
    }
    return line.cells > width ? "\(line.cells) cells" : nil
  }
}
