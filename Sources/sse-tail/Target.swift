import Core
import Web

/// What is followed: a URL, or a stream of the dashboard.
struct Target {
  /// The two streams of the dashboard (contract, section 2).
  enum Stream: String {
    case activity
    case voice

    /// The path behind the profile's URL.
    var path: String { "api/\(rawValue)/events" }
  }

  /// The dashboard's stream, nil for a URL.
  let stream: Stream?
  /// The stream's address.
  let address: WebAddress
  /// The dashboard's address, nil for a URL.
  let base: WebAddress?

  /// What a state file is bound to.
  var source: String { stream?.rawValue ?? address.display }

  /// - Parameters:
  ///   - text: the operand.
  ///   - url: the URL of the profile, nil if there is none.
  /// - Throws: `SettingsError`.
  init(_ text: String, url: String?) throws(SettingsError) {
    if let stream = Stream(rawValue: text) {
      guard let url else {
        throw SettingsError(text, "no url: set AGENT_URL, or a profile in agentutils.conf(5)")
      }
      do throws(AddressError) {
        let base = try WebAddress(url)
        self.base = base
        address = try base.appending(stream.path)
      } catch {
        throw SettingsError("the profile's url", error.reason)
      }
      self.stream = stream
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
  }
}
