import Core

/// Which request of a gateway is ours: a prompt gets no id, and clocks differ (CONTRACT.md 4).
/// No network, no clock.
struct OwnRequest {
  /// The newest request that was seen before ours was sent.
  private var newest: Timestamp?
  private var sentAt: Timestamp?
  /// How far behind ours the clock of the gateway seems to be, too far for it to be known what
  /// is ours; seconds.
  private var behind: Int64?

  /// How far the clock of a gateway may be behind ours, seconds.
  private static let skew: Int64 = 60

  /// What is to be said when it was not seen.
  var doubt: String {
    let clock = behind.map { "; the gateway's clock seems to be \($0) s behind" }
    return "whether the message was taken is not known" + (clock ?? "")
  }

  /// A request was seen before ours was sent.
  mutating func before(_ active: JoelclawStatus.Request?) {
    newest = [newest, active?.enqueued].compactMap(\.self).max()
  }

  /// Ours was sent.
  mutating func sent(_ now: Timestamp) { sentAt = now }

  /// A request is active.
  ///
  /// - Returns: whether it is ours.
  mutating func take(_ active: JoelclawStatus.Request) -> Bool {
    guard active.source == JoelclawStatus.ours else { return false }
    guard let time = active.enqueued else { return newest == nil }
    guard newest.map({ time > $0 }) != false else { return false }
    guard let sentAt, time < sentAt.adding(.seconds(-Self.skew)) else { return true }
    behind = sentAt.seconds - time.seconds
    return false
  }
}
