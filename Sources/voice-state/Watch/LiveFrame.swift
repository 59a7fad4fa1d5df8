import Core
import Screen

/// The rows of the live screen: a window on the cockpit, and the status row.
struct LiveFrame {
  let size: WindowSize
  let depth: ColourDepth

  /// - Parameters:
  ///   - lines: the whole text.
  ///   - scroll: which part of it is seen; must be fitted to it.
  ///   - status: the last row.
  /// - Returns: one row for each of the window.
  func rows(_ lines: [Line], _ scroll: ScrollState, status: Line) -> [FrameDiffer.Row] {
    func row(_ line: Line) -> FrameDiffer.Row {
      FrameDiffer.Row(
        Drawing.line(line.cut(to: size.columns), depth: depth), width: size.columns, depth: depth)
    }
    var rows = lines[scroll.visible].map(row)
    let empty = FrameDiffer.Row("", isFull: false)
    while rows.count < size.rows - 1 { rows.append(empty) }
    if size.rows > 1 { rows = Array(rows.prefix(size.rows - 1)) } else { rows = [] }
    return rows + [row(status)]
  }

  /// The status row: the link on the left, where one is and the keys on the right.
  ///
  /// - Parameters:
  ///   - words: about the link.
  ///   - note: what else is to say; may be empty.
  ///   - scroll: where one is.
  ///   - keys: what keys do; left out first where there is no room.
  static func status(
    _ words: (text: String, mood: BackendLink.Mood), note: String, scroll: ScrollState,
    keys: String, width: Int
  ) -> Line {
    let style: Style =
      switch words.mood {
      case .good: Style(Palette.positive)
      case .odd: Style(Palette.warning)
      case .bad: Style(Palette.error, bold: true)
      }
    var left = Line([.init(note.isEmpty ? "" : note + "  ", .plain), .init(words.text, style)])
    left.spans.removeAll { $0.text.isEmpty }
    let position =
      scroll.isNeeded
      ? "\(scroll.visible.lowerBound + 1)-\(scroll.visible.upperBound)/\(scroll.total)  " : ""
    for right in [position + keys, position, ""] {
      let room = width - left.cells - CellWidth.of(right)
      guard room >= 2 || right.isEmpty else { continue }
      if !right.isEmpty {
        left.add(Fit.spaces(room))
        left.add(right, .dim)
      }
      break
    }
    return left
  }
}
