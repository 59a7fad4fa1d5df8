/// A key that was pressed, as far as a terminal tells.
public enum Key: Equatable, Sendable {
  /// A printable character, space among them.
  case character(Character)
  /// Control with a letter, `c` for ^C, or with one of `@[\]^_`.
  case control(Character)
  case up, down, left, right, pageUp, pageDown, home, end
  case enter, escape, tab, backspace, insert, delete
  /// A sequence that means nothing here: a function key, a report.
  case other
}
