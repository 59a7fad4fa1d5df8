import Core
import Screen

/// What happened to the stream itself, as a line between the rows.
enum Notice {
  /// The line for a lifecycle record, nil for those that a reader of the feed
  /// need not know (`open`, `comment` and types of other commands).
  static func line(type: String, _ record: JSONValue, _ layout: Layout) -> Line? {
    var phrase = Phrase(limit: layout.limit, isWide: layout.isWide)
    var style = Style(Palette.warning)
    switch type {
    case "lost":
      phrase.add(record["reason"]?.text)
      if let wait = record["retry_in"]?.number {
        phrase.add("next try in \(Amount.duration(wait * 1000))")
      }
    case "gap":
      let after = record["after"]?.text.map { moment($0, layout) } ?? "the start"
      let before = record["before"]?.text.map { moment($0, layout) } ?? "now"
      phrase.add("actions between \(after) and \(before) may be missing")
    case "resumed":
      style = .dim
      if let down = record["down"]?.number { phrase.add("after \(Amount.duration(down * 1000))") }
    case "end":
      style = .dim
      phrase.add(record["reason"]?.text)
    default: return nil
    }
    var line = Line()
    line.add(Row.time(record["time"]?.text, layout), .dim)
    line.add("  ")
    line.add(style == .dim ? "─ " : "! ", style)
    line.add("stream \(type)", style)
    Row.fill(&line, to: layout.timeCells + 4 + layout.kindCells + 1 + Layout.costCells)
    if !phrase.line.spans.isEmpty { line.add("  ") }
    for span in phrase.line.spans { line.add(span.text, style) }
    return Row.trimmed(line)
  }

  /// A time inside a sentence.
  private static func moment(_ text: String, _ layout: Layout) -> String {
    guard let time = Timestamp(rfc3339: text) else { return text }
    return TimeText.absolute(time, zone: layout.zone)
  }
}
