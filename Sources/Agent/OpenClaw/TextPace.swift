/// When a text that grows is told again. Its record holds all of it: told for every piece,
/// a long text would cost the square of its length. No clock.
struct TextPace {
  private var told = 0
  private(set) var isBehind = false

  /// Below this every piece is told, bytes.
  private static let short = 4096
  /// The most that is told of one text while nothing else happens, bytes a second.
  private static let rate = 20_000_000.0

  /// Whether the text is to be told at once; if not, `rest` seconds after it was told last.
  mutating func changed(to bytes: Int) -> Bool {
    if bytes > Self.short, bytes >= told, bytes - told < told / 8 {
      isBehind = true
      return false
    }
    caughtUp(at: bytes)
    return true
  }

  mutating func caughtUp(at bytes: Int) { (told, isBehind) = (bytes, false) }

  /// Seconds until a text that grew little is told again; nobody who reads notices.
  static func rest(after bytes: Int) -> Double { Double(bytes) / rate }
}
