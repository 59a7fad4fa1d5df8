import Core
import Turns

/// Which request of a gateway is ours: a prompt gets no id, and clocks differ (CONTRACT.md 4).
/// No network, no clock.
struct OwnRequest {
  private var newest: Timestamp?
  private var sentAt: Timestamp?
  /// Seconds by which the gateway's clock seems behind, too far to know what is ours.
  private var behind: Int64?

  /// How far the clock of a gateway may be behind ours, seconds.
  private static let skew: Int64 = 60

  var doubt: String {
    let clock = behind.map { "; the gateway's clock seems to be \($0) s behind" }
    return "whether the message was taken is not known" + (clock ?? "")
  }

  mutating func before(_ active: JoelclawStatus.Request?) {
    newest = [newest, active?.enqueued].compactMap(\.self).max()
  }

  mutating func sent(_ now: Timestamp) { sentAt = now }

  /// Whether the active request is ours.
  mutating func receive(_ active: JoelclawStatus.Request) -> Bool {
    guard active.source == JoelclawStatus.ours else { return false }
    guard let time = active.enqueued else { return newest == nil }
    guard newest.map({ time > $0 }) != false else { return false }
    guard let sentAt, time < sentAt.adding(.seconds(-Self.skew)) else { return true }
    behind = sentAt.seconds - time.seconds
    return false
  }
}
