public import Core

/// What a cell of a table says of a record, before anybody knows how it looks there:
/// Screen draws it. What is missing or of another type is empty or shown as it is.
public indirect enum Cell: Sendable {
  /// How much a person should care.
  public enum Mood: Sendable {
    case plain, faint, good, odd, bad
  }

  /// Any value; nothing for null.
  case text(JSONValue?)
  /// Words; from anywhere.
  case words(String, Mood = .plain)
  /// An instant, in the user's zone.
  case time(JSONValue?)
  /// How long ago an instant was at another.
  case age(JSONValue?, now: Timestamp)
  /// Milliseconds.
  case duration(Double, Mood = .plain)
  /// US dollars.
  case dollars(Double)
  /// A size.
  case bytes(Int64)
  /// A small bar a value, scaled to the largest.
  case bars([Double])
  /// The kind of an action, in the colour of its domain.
  case kind(String)
  /// Those that say something, one behind the other.
  case row([Cell], by: String = " ", Mood = .plain)
  /// The first that says something.
  case first([Cell])
}

extension Cell {
  /// Nothing.
  public static let nothing = Cell.words("")

  /// From one instant to another.
  public static func span(_ from: JSONValue?, _ to: JSONValue?) -> Cell {
    guard let from = from?.time, let to = to?.time else { return nothing }
    let seconds = Double(to.seconds - from.seconds)
    let rest = Double(to.nanoseconds - from.nanoseconds) / 1e6
    return .duration(seconds * 1000 + rest)
  }

  /// A duration; from `slow` milliseconds on it warns.
  public static func milliseconds(_ value: JSONValue?, slow: Double = .infinity) -> Cell {
    value?.number.map { .duration($0, $0 > slow ? .odd : .plain) } ?? .text(value)
  }

  /// US dollars.
  public static func money(_ value: JSONValue?) -> Cell {
    value?.number.map { .dollars($0) } ?? .text(value)
  }

  /// A truth value in words.
  public static func state(_ value: JSONValue?, yes: String, no: String) -> Cell {
    value?.bool.map { $0 ? .words(yes, .good) : .words(no, .bad) } ?? .text(value)
  }

  /// One of the backend's words for a state, coloured where it is known.
  public static func status(_ value: JSONValue?) -> Cell {
    let mood: Mood =
      switch value?.text {
      case "active", "completed", "delivered", "ok", "ready", "running": .good
      case "error", "failed": .bad
      case "paused", "skipped", "deleted", "starting": .faint
      default: .plain
      }
    return .row([.text(value)], mood)
  }

  /// The words of a failure.
  public static func error(_ value: JSONValue?) -> Cell { .row([.text(value)], .bad) }
}
