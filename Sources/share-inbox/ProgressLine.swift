import CLibc
import Core
import Screen

/// How far a file is, on the terminal that standard error is: its name, how much of it,
/// the rate, the time left. Nothing elsewhere.
final class ProgressLine {
  private let name: String
  private let size: Int64?
  private let isShown: Bool
  private let start = Clock.monotonic
  private var last = 0.0
  private var isDirty = false

  /// Seconds between two lines; a file that is through before the first has none.
  private static let interval = 0.2

  init(_ name: String, size: Int64?, isQuiet: Bool) {
    (self.name, self.size) = (name, size)
    isShown = !isQuiet && isatty(2) == 1
    last = start
  }

  func show(_ sent: Int64, now: Double) {
    guard isShown, now - last >= Self.interval else { return }
    last = now
    // A terminal goes on to the next line behind its last column.
    let text = Self.text(
      name, sent: sent, size: size, seconds: now - start, cells: WindowSize(of: 2).columns - 1)
    write("\r\u{1b}[K" + text)
    isDirty = true
  }

  func clear() {
    if isDirty { write("\r\u{1b}[K") }
    isDirty = false
  }

  /// `shot.png  6%  12.0 MB of 200.00 MB  45 MB/s  0:04 left`, as far as there is room: the
  /// name is shortened first, then the sizes go, then the name, and the rate.
  static func text(
    _ name: String, sent: Int64, size: Int64?, seconds: Double, cells: Int
  ) -> String {
    let pace = seconds > 0 ? Double(sent) / seconds : 0
    let size = size.flatMap { $0 > 0 && $0 >= sent ? $0 : nil }
    // Hundredths, rounded down: all of it is only all of it.
    let share = size.map { "\(Int64(Double(sent) / Double($0) * 100))%" }
    let gone = Amount.bytes(Double(sent))
    let sizes = size.map { "\(gone) of \(Amount.bytes(Double($0)))" }
    let left = pace > 0 ? size.map { Double($0 - sent) / pace }.flatMap(clock) : nil
    let forms = [
      [share, sizes ?? gone, rate(pace), left.map { $0 + " left" }],
      [share ?? gone, rate(pace), left.map { $0 + " left" }],
    ].map { "  " + $0.compactMap(\.self).joined(separator: "  ") }
    for form in forms {
      let room = cells - form.utf8.count
      if room >= min(name.utf8.count, shortest) { return middle(name, room) + form }
    }
    let bare = [
      [share ?? gone, rate(pace), left], [share ?? gone, left], [share ?? gone],
    ].map { $0.compactMap(\.self).joined(separator: " ") }
    return bare.first { $0.utf8.count <= cells } ?? Fit.truncate(bare[2], to: cells)
  }

  /// The fewest cells that are worth being given to a longer name.
  private static let shortest = 8

  /// The beginning and the end of a name of ASCII: these tell more than what is between.
  private static func middle(_ name: String, _ cells: Int) -> String {
    guard name.utf8.count > cells else { return name }
    return "\(name.prefix(cells / 2))\(Fit.ellipsis)\(name.suffix((cells - 1) / 2))"
  }

  /// At most nine cells: `4.5 MB/s`, `45 MB/s`.
  private static func rate(_ pace: Double) -> String {
    var pace = pace
    var unit = 0
    let units = ["B", "KB", "MB", "GB"]
    while pace >= 1023.5 && unit < units.count - 1 {
      pace /= 1024
      unit += 1
    }
    return "\(Amount.fixed(pace, unit > 0 && pace < 9.95 ? 1 : 0)) \(units[unit])/s"
  }

  private static func clock(_ seconds: Double) -> String? {
    seconds < 1e9 ? Amount.clock(Int64(seconds.rounded(.up))) : nil
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = CLibc.write(2, bytes, bytes.count)
  }
}
