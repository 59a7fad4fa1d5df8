import Core

extension Timestamp {
  /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7); never in the words of
  /// a locale.
  var httpDate: String {
    let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    // 1970 began on a Thursday.
    let weekday = weekdays[Int(max(seconds, 0) / 86_400 % 7)]
    let parts = rfc3339.split { $0 == "-" || $0 == "T" || $0 == "." }
    let month = months[(Int(parts[1]) ?? 1) - 1]
    return "\(weekday), \(parts[2]) \(month) \(parts[0]) \(parts[3]) GMT"
  }
}
