/// The control sequences that a full-screen program sends (ECMA-48, and the
/// private modes of xterm's ctlseqs). A terminal ignores private modes that it
/// does not know.
public enum TerminalCodes {
  /// The alternate screen with the cursor kept (1049), no cursor (25), and no
  /// wrap (7): a row that a terminal thinks too wide must not push the next one down.
  public static let enter = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l"
  /// Undoes `enter`, whatever the frame before left on.
  public static let leave = "\u{1b}[?2026l\u{1b}[0m\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"
  /// A synchronised update begins (2026): nothing is shown until `endUpdate`.
  public static let beginUpdate = "\u{1b}[?2026h"
  /// What was written since `beginUpdate` is shown at once.
  public static let endUpdate = "\u{1b}[?2026l"
  /// From the cursor to the end of the line, with the default background (EL).
  public static let eraseRight = "\u{1b}[K"

  /// The cursor to the beginning of a row (CUP).
  ///
  /// - Parameter row: 0 is the first.
  public static func row(_ row: Int) -> String { "\u{1b}[\(row + 1);1H" }

  /// The cursor to a column of its row (CHA).
  ///
  /// - Parameter column: 0 is the first.
  static func column(_ column: Int) -> String { "\u{1b}[\(column + 1)G" }
}
