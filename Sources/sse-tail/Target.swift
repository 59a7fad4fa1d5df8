import Agent
import Core
import Web

/// What is followed: a URL, or a stream of the dashboard.
struct Target {
  /// The dashboard's stream, nil for a URL.
  let stream: DashboardStream?
  /// The stream's address.
  let address: WebAddress
  /// The dashboard's address, nil for a URL.
  let base: WebAddress?

  /// What a state file is bound to: the stream and its profile, for the name of
  /// a tunnel changes; without one, the URL without its query.
  let source: String

  /// - Parameters:
  ///   - text: the operand.
  ///   - url: the URL of the profile, nil if there is none.
  ///   - profile: the profile's name, nil if it has none.
  /// - Throws: `SettingsError`.
  init(_ text: String, url: String?, profile: String? = nil) throws(SettingsError) {
    if let stream = DashboardStream(rawValue: text) {
      guard let url else {
        throw SettingsError(text, "no url: set AGENT_URL, or a profile in agentutils.conf(5)")
      }
      do throws(AddressError) {
        let base = try WebAddress(url)
        self.base = base
        address = try stream.address(at: base)
      } catch {
        throw SettingsError("the profile's url", error.reason)
      }
      self.stream = stream
      source = stream.source(profile: profile, address: address)
      return
    }
    do throws(AddressError) {
      address = try WebAddress(text)
    } catch {
      let shown = text.split(separator: "?").first.map(String.init) ?? text
      let safe = shown.contains("@") ? "url" : shown
      throw SettingsError(safe, error.reason)
    }
    stream = nil
    base = nil
    source = address.display
  }
}
