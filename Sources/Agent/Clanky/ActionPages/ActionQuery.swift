import CCurl
import Core
import Web

extension ActionPages {
  /// What one request asks for.
  public struct Query: Equatable, Sendable {
    /// All kinds when nil.
    public var kinds: [String]?
    /// All guilds when nil.
    public var guild: String?
    /// Rows newer than this are in hand already.
    var bound: Timestamp?

    /// The path behind the dashboard's URL, query included.
    ///
    /// - Parameters:
    ///   - limit: the most rows.
    ///   - hours: the window until now, as `hours(_:)` writes it; nil for none.
    public func path(limit: Int, sinceHours hours: String? = nil) -> String {
      ClankyPath.actions(guild: guild, kinds: kinds, sinceHours: hours, limit: limit)
    }

    /// Whether the backend can be asked for a kind or a guild of this name: it
    /// cuts the list of kinds at commas and takes the blanks off.
    static func canName(_ name: String) -> Bool {
      let bytes = name.utf8
      guard let first = bytes.first, let last = bytes.last, bytes.count <= 500 else { return false }
      return first > 32 && last > 32 && !bytes.contains(UInt8(ascii: ","))
    }
  }

  /// The value of `sinceHours` for a window of so many seconds: a decimal number
  /// of millionths, above zero.
  public static func hours(_ seconds: Double) -> String {
    let millionths = Int64((max(1e-6, min(seconds / 3600, 1e9)) * 1e6).rounded(.up))
    var digits = String(1_000_000 + millionths % 1_000_000).dropFirst()
    while digits.hasSuffix("0") { digits.removeLast() }
    return "\(millionths / 1_000_000)" + (digits.isEmpty ? "" : ".\(digits)")
  }
}

extension ResponseHead {
  /// What the server's clock says, seconds since 1970; nil when it does not tell.
  public var date: Double? {
    guard let date = value("Date") else { return nil }
    let seconds = curl_getdate(date, nil)
    return seconds < 0 ? nil : Double(seconds)
  }
}
