import Agent
import Core
import Records
import Screen

/// A fact as a small text that a person edits.
///
/// A member begins with its name and a colon at the start of a line and goes on
/// over the lines that begin with none of the names. Lines that begin with `#`
/// are notes.
enum FactForm {
  static func text(_ draft: FactDraft, notes: [String]) -> String {
    notes.map { "# \(Visible.line($0))\n" }.joined()
      + FactDraft.names.map { "\($0): \(Visible.line(draft[$0]))\n" }.joined()
  }

  /// Reads what became of the text. Returns nil when nothing is left of it.
  static func draft(_ bytes: [UInt8], base: FactDraft) throws(UsageError) -> FactDraft? {
    let text = String(decoding: bytes, as: UTF8.self)
    // An editor of another encoding: its letters are not to become U+FFFD.
    guard text.utf8.elementsEqual(bytes) else { throw UsageError("not UTF-8") }
    return try draft(text, base: base)
  }

  /// Reads what became of the text. Returns nil when nothing is left of it: the person gave up.
  static func draft(_ text: String, base: FactDraft) throws(UsageError) -> FactDraft? {
    var members: [String: String] = [:]
    var current: String?
    for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      if line.hasPrefix("#") { continue }
      if let (name, rest) = heading(line) {
        if members[name] != nil { throw UsageError("\(name): twice") }
        members[name] = rest
        current = name
      } else if FactText.folded(String(line)).isEmpty {
        continue
      } else if let current {
        members[current, default: ""] += " " + line
      } else {
        throw UsageError("not of the form name: text")
      }
    }
    if members.isEmpty { return nil }
    var draft = base
    for name in FactDraft.names {
      guard let text = members[name] else { throw UsageError("\(name): missing") }
      let folded = FactText.folded(text)
      if folded != FactText.folded(Visible.line(base[name])) {
        draft[name] = restored(folded, from: base[name])
      }
    }
    return draft
  }

  /// Restores what the form shows escaped, so that who changes a word changes that alone.
  private static func restored(_ text: String, from base: String) -> String {
    var text = text
    for scalar in Visible.escaped(in: base) {
      let escape = Visible.escape(scalar)
      // Where the fact spells the same in letters, nobody knows which is meant.
      if base.holds(escape) { continue }
      text = text.exchanging(text: escape, for: String(scalar))
    }
    return text
  }

  private static func heading(_ line: Substring) -> (name: String, rest: String)? {
    guard let name = FactDraft.names.first(where: { line.hasPrefix("\($0):") }) else { return nil }
    return (name, String(line.dropFirst(name.count + 1)))
  }

  /// With `-` and `+` for each member that is not the same; nothing when all are.
  static func difference(_ a: FactDraft, _ b: FactDraft, width: Int?) -> [Line] {
    FactDraft.names.filter { a[$0] != b[$0] }.flatMap { name in
      lines("-", name, a[name], Style(Palette.error), width)
        + lines("+", name, b[name], Style(Palette.positive), width)
    }
  }

  private static func lines(
    _ mark: String, _ name: String, _ text: String, _ style: Style, _ width: Int?
  ) -> [Line] {
    let head = "\(mark) \(Fit.padEnd(name, to: 11))"
    let room = width.map { max($0 - CellWidth.of(head), 16) }
    let broken = Paragraph.wrap(Plain.line(text, limit: Cell.longest), to: room)
    return broken.enumerated().map { index, part in
      Line([
        Line.Span(index == 0 ? head : mark + Fit.spaces(CellWidth.of(head) - 1), style),
        Line.Span(part, style),
      ])
    }
  }
}
