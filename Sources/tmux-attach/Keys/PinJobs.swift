import Core
import Shell

/// `--fingerprint` and `--forget`.
enum PinJobs {
  /// Prints the pinned keys of the host.
  static func fingerprint(
    _ options: AttachOptions, _ diagnostics: Diagnostics
  ) throws(TargetError) -> ExitStatus {
    let request = try KeysCommand.request(options, diagnostics)
    do throws(SettingsError) {
      let place = try request.hostKeyPlace()
      let keys = try PinFile(path: request.pins).keys(host: place.host, port: place.port)
      guard !keys.isEmpty else {
        diagnostics.error(place.name, "no key is pinned in \(request.pins)")
        return .negative
      }
      KeysCommand.write(keys.map { Visible.line(line($0, place)) }, diagnostics)
      return .success
    } catch {
      throw .settings(error)
    }
  }

  /// Drops them.
  static func forget(
    _ options: AttachOptions, _ diagnostics: Diagnostics
  ) throws(TargetError) -> ExitStatus {
    let request = try KeysCommand.request(options, diagnostics)
    do throws(SettingsError) {
      let place = try request.hostKeyPlace()
      let dropped = try PinFile.forget(host: place.host, port: place.port, in: request.pins)
      for key in dropped { diagnostics.note("dropped \(line(key, place))") }
      let left = try PinFile(path: request.pins).keys(host: place.host, port: place.port)
      if !left.isEmpty {
        diagnostics.error(
          place.name, "a pattern in \(request.pins) has a key for it, which was left there")
      }
      if dropped.isEmpty {
        if left.isEmpty { diagnostics.error(place.name, "no key is pinned in \(request.pins)") }
        return .negative
      }
      return .success
    } catch {
      throw .settings(error)
    }
  }

  /// As `ssh-keygen -l` shows it.
  private static func line(_ key: HostKey, _ place: HostKeyPlace) -> String {
    "\(key.bits) \(key.fingerprint) \(place.name) (\(key.kind))"
  }
}
