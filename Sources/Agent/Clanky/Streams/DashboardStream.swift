import Core
import Web

/// The two streams of the dashboard (Agent/Clanky/CONTRACT.md 2).
public enum DashboardStream: String, CaseIterable, Sendable {
  case activity
  case voice

  /// The path behind the profile's URL.
  var path: String { self == .voice ? ClankyPath.voiceEvents : ClankyPath.activityEvents }

  /// The silence after which a connection is lost, seconds: a heartbeat comes
  /// every 15.
  public static let usualSilence = 45.0

  /// The stream's address.
  ///
  /// - Parameter base: the dashboard's.
  public func address(at base: WebAddress) throws(AddressError) -> WebAddress {
    try base.appending(path)
  }

  /// What a state file is bound to: the stream and its profile, for the name of a
  /// tunnel changes; without a profile the address.
  ///
  /// - Parameters:
  ///   - profile: its name, nil if it has none.
  ///   - address: of the stream.
  public func source(profile: String?, address: WebAddress) -> String {
    profile.map { "\(rawValue) of \($0)" } ?? address.display
  }

  /// What keeps the stream whole; nil for voice, which tells its state anew.
  ///
  /// - Parameters:
  ///   - client: of the stream.
  ///   - request: the stream's.
  ///   - base: the dashboard's address.
  ///   - newest: the newest action of an earlier run.
  public func continuity(
    _ client: WebClient, _ request: Request, base: WebAddress, resumingAt newest: String?
  ) -> Continuity? {
    guard self == .activity else { return nil }
    var rows = request
    rows.method = "GET"
    rows.body = nil
    rows.headers = [Header("Accept", "application/json")]
    return ActivityFollower(client, rows, base: base, resumingAt: newest)
  }
}
