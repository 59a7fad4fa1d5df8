import Core

/// Members of a record as cells of a table: what is missing or of another type
/// is empty or shown as it is, never an error.
public enum Cell {
  /// More scalars of a text are of no use in a cell.
  public static let longest = 4000

  /// Any value; nothing for null.
  public static func text(_ value: JSONValue?) -> Line.Span {
    guard let value, !value.isNull else { return Line.Span("") }
    return Line.Span(Plain.line(value.text ?? value.compact(limit: longest), limit: longest))
  }

  /// An instant, in the user's zone.
  public static func time(_ value: JSONValue?) -> Line.Span {
    guard let text = value?.string, let time = Timestamp(rfc3339: text) else {
      return self.text(value)
    }
    return Line.Span(TimeText.absolute(time, zone: TimeText.local), .dim)
  }

  /// From one instant to another.
  public static func span(_ from: JSONValue?, _ to: JSONValue?) -> Line.Span {
    guard let from = from?.string.flatMap({ Timestamp(rfc3339: $0) }),
      let to = to?.string.flatMap({ Timestamp(rfc3339: $0) })
    else { return Line.Span("") }
    let seconds = Double(to.seconds - from.seconds)
    let rest = Double(to.nanoseconds - from.nanoseconds) / 1e6
    return Line.Span(Amount.duration(seconds * 1000 + rest))
  }

  /// A duration; from `slow` milliseconds on it warns.
  public static func milliseconds(_ value: JSONValue?, slow: Double = .infinity) -> Line.Span {
    guard let number = value?.number else { return text(value) }
    return Line.Span(
      Amount.duration(number), number > slow ? Style(Palette.warning) : .plain)
  }

  /// US dollars.
  public static func money(_ value: JSONValue?) -> Line.Span {
    guard let number = value?.number else { return text(value) }
    return Line.Span(Amount.money(number))
  }

  /// A truth value in words.
  public static func state(_ value: JSONValue?, yes: String, no: String) -> Line.Span {
    guard let flag = value?.bool else { return text(value) }
    return flag ? Line.Span(yes, Style(Palette.positive)) : Line.Span(no, Style(Palette.error))
  }

  /// One of the backend's words for a state, coloured where it is known.
  public static func status(_ value: JSONValue?) -> Line.Span {
    let word = text(value)
    switch word.text {
    case "active", "ok", "ready", "running": return Line.Span(word.text, Style(Palette.positive))
    case "error", "failed": return Line.Span(word.text, Style(Palette.error))
    case "paused", "skipped", "deleted", "starting": return Line.Span(word.text, .dim)
    default: return word
    }
  }

  /// The words of a failure.
  public static func error(_ value: JSONValue?) -> Line.Span {
    Line.Span(text(value).text, Style(Palette.error))
  }
}
