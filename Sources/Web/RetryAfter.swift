import CCurl
import Core

/// The `Retry-After` field of RFC 9110, section 10.2.3.
public enum RetryAfter {
  /// The longest wait that a server is granted, seconds.
  public static let limit = 86400.0

  /// The seconds to wait.
  ///
  /// - Parameters:
  ///   - value: seconds, or an HTTP date in any of its three forms.
  ///   - now: seconds since 1970.
  /// - Returns: 0 or more, at most `limit`; nil when the value is neither.
  public static func seconds(_ value: String, now: Double) -> Double? {
    let text = value.trimmingBlanks
    if !text.isEmpty && text.utf8.allSatisfy({ (48...57).contains($0) }) {
      return min(Double(text) ?? limit, limit)
    }
    let date = curl_getdate(text, nil)
    if date < 0 { return nil }
    return min(max(Double(date) - now, 0), limit)
  }
}
