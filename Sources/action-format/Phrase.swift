import Core
import Screen

/// The line that matters for an action, built part by part.
///
/// Every part goes through `Plain`, so that nothing from outside can reach the
/// terminal in another way.
struct Phrase {
  /// What was added so far.
  private(set) var line = Line()
  /// About how many characters of a part are of use.
  let limit: Int
  /// Whether there is room for whole ids.
  let isWide: Bool

  /// The people who are known by name.
  let names: Names

  /// - Parameters:
  ///   - limit: about how many characters of a part are of use.
  ///   - isWide: whether there is room for whole ids.
  ///   - names: the people who are known by name.
  init(limit: Int = .max, isWide: Bool = true, names: Names = Names()) {
    self.limit = limit
    self.isWide = isWide
    self.names = names
  }

  /// Adds a part after a dot; nothing for nil or blank text.
  mutating func add(_ text: String?, _ style: Style = .plain) {
    guard let text else { return }
    let plain = Plain.line(text, limit: limit)
    guard !plain.isEmpty else { return }
    if !line.spans.isEmpty { line.add(" · ", .dim) }
    line.add(plain, style)
  }

  /// Adds words somebody said, in quotes.
  mutating func quote(_ text: String?, _ style: Style = .plain) {
    guard let text, !Plain.line(text, limit: 1).isEmpty else { return }
    add("“\(Plain.line(text, limit: limit))”", style)
  }

  /// Adds who says what: `Mika: “words”`.
  mutating func say(_ speaker: String?, _ words: String?, _ style: Style = .plain) {
    guard let words, !Plain.line(words, limit: 1).isEmpty else {
      add(speaker, .bold)
      return
    }
    if let speaker {
      add(speaker, .bold)
      line.add(": ", .bold)
      line.add("“\(Plain.line(words, limit: limit))”", style)
    } else {
      quote(words, style)
    }
  }

  /// Adds a duration, in the warning colour when it is slow.
  ///
  /// - Parameters:
  ///   - milliseconds: nil adds nothing.
  ///   - slow: above this many milliseconds it stands out.
  mutating func took(_ milliseconds: Double?, slow: Double = .infinity) {
    guard let milliseconds else { return }
    add(
      Amount.duration(milliseconds), milliseconds > slow ? Style(Palette.warning) : .dim)
  }

  /// Adds the use of a tool: `web_search(tides today)`.
  mutating func tool(_ name: String?, _ input: JSONValue?) {
    guard let name else { return }
    add(name, Style(Palette.tool))
    guard let input, !input.isNull else { return }
    let text = Plain.line(Brief.text(input, limit: min(limit, 1000)), limit: limit)
    if !text.isEmpty { line.add("(\(text))", .dim) }
  }

  /// Adds what came out: `→ ok: true, resultCount: 4`.
  mutating func result(_ value: JSONValue?) {
    guard let value, !value.isNull else { return }
    let text = Brief.text(value, limit: min(limit, 1000))
    if !text.isEmpty { add("→ " + text) }
  }

  /// Adds what went wrong.
  mutating func fail(_ text: String?) { add(text, Style(Palette.error)) }

  /// A person's name where it is known, else the id as there is room for it.
  func person(_ id: String?) -> String? { id.flatMap { names[$0] } ?? self.id(id) }

  /// An id as there is room for it: whole, or its last four digits.
  func id(_ id: String?) -> String? {
    guard let id, !isWide, id.count > 6 else { return id }
    return "…" + id.suffix(4)
  }
}
