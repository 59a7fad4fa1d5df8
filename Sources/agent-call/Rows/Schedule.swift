import Core
import Screen

/// When an automation runs, in words (Agent/Clanky/CONTRACT.md 5.4).
enum Schedule {
  static func cell(_ value: JSONValue?) -> Line.Span {
    guard let value, value.isObject else { return Cell.text(value) }
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    switch value["kind"]?.string {
    case "daily":
      guard let hour = value["hour"]?.integer, let minute = value["minute"]?.integer,
        (0...23).contains(hour), (0...59).contains(minute)
      else { break }
      return Line.Span("daily \(two(hour)):\(two(minute))")
    case "interval":
      guard let minutes = value["everyMinutes"]?.number, minutes > 0 else { break }
      return Line.Span("every \(Amount.duration(minutes * 60_000))")
    case "once":
      guard value["atIso"]?.string != nil else { break }
      return Line.Span("once " + Cell.time(value["atIso"]).text)
    default: break
    }
    return Cell.text(value)
  }
}
