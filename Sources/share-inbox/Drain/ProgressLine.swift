import CLibc
import Core
import Screen

/// How far a file is, on the terminal that standard error is: bytes, rate, time left.
/// Nothing elsewhere.
final class ProgressLine {
  private let name: String
  private let size: Int
  private let isShown: Bool
  private let start = Clock.monotonic
  private var last = 0.0
  private var isDirty = false

  /// Seconds between two lines; a file that is through before the first has none.
  private static let interval = 0.2

  /// - Parameters:
  ///   - name: the item's, without control characters.
  ///   - size: bytes.
  init(_ name: String, size: Int, isQuiet: Bool) {
    self.name = name
    self.size = size
    isShown = !isQuiet && isatty(2) == 1
    last = start
  }

  /// Shows how many bytes have gone.
  func show(_ sent: Int, now: Double) {
    guard isShown, now - last >= Self.interval else { return }
    last = now
    let text = Self.text(name, sent: sent, size: size, seconds: now - start)
    var columns: Int32 = 80
    var rows: Int32 = 0
    if !clibc_window_size(2, &columns, &rows) { columns = 80 }
    write("\r\u{1b}[K" + Fit.truncate(text, to: max(1, Int(columns) - 1)))
    isDirty = true
  }

  /// Takes the line away.
  func clear() {
    if isDirty { write("\r\u{1b}[K") }
    isDirty = false
  }

  /// `NAME  12.0 MB of 200 MB  45.1 MB/s  4 s left`.
  static func text(_ name: String, sent: Int, size: Int, seconds: Double) -> String {
    let rate = seconds > 0 ? Double(sent) / seconds : 0
    var text = "\(name)  \(Amount.bytes(sent)) of \(Amount.bytes(size))  \(Amount.bytes(rate))/s"
    if rate > 0 {
      text += "  \(Amount.clock(Int64((Double(size - sent) / rate).rounded(.up)))) left"
    }
    return text
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = CLibc.write(2, bytes, bytes.count)
  }
}
