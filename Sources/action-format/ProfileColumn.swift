import Core
import Screen

/// Whose an action is, in front of its row, where records say so: as wide as the
/// longest name so far, and each name always of one colour.
struct ProfileColumn {
  /// The most cells that a name takes.
  private static let mostCells = 16
  private var cells = 0

  /// Puts the name in front of a line; the line as it is where there is no name.
  mutating func add(_ profile: String?, to line: Line) -> Line {
    guard let profile, !profile.isEmpty else { return line }
    let name = Fit.truncate(Plain.line(profile, limit: 200), to: Self.mostCells)
    cells = max(cells, CellWidth.of(name))
    var named = Line()
    named.add(name, Style(Self.colour(of: profile)))
    named.add(Fit.spaces(cells - CellWidth.of(name) + 2))
    named.add(line)
    return named
  }

  /// A colour that depends on the name alone (FNV-1a).
  static func colour(of name: String) -> Colour {
    var hash: UInt32 = 2_166_136_261
    for byte in name.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    return Palette.names[Int(hash >> 8) % Palette.names.count]
  }
}
