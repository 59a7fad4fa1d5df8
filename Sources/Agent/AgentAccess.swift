import CLibc
import Core
import Web

extension Caller {
  /// A caller of the backend that the configuration, the environment and the
  /// options name together.
  ///
  /// - Parameters:
  ///   - access: whose backend, and how one is let in.
  ///   - maxTime: the argument of `--max-time`, seconds.
  ///   - diagnostics: for notes, faults of the configuration, and the name that
  ///     requests carry.
  /// - Throws: `CallFailure`: no such profile, no URL, no token to be had, no
  ///   such file of authorities.
  public convenience init(
    _ access: AccessOptions, maxTime: Double?, diagnostics: Diagnostics
  ) throws(CallFailure) {
    let backend: Backend
    do throws(SettingsError) {
      let settings = try Settings()
      backend = try Backend(
        settings: settings, profile: access.profile, tokenFile: access.tokenFile,
        allowPlaintext: access.allowPlaintext)
      // A fault of the profile in use is an error, told once; others are warnings.
      settings.configuration.report(to: diagnostics)
    } catch {
      throw CallFailure(error)
    }
    if let file = access.authorities, Core.access(file, R_OK) != 0 {
      throw CallFailure(file, systemReason(systemError), .failure)
    }
    let wait = maxTime.map { $0 > 0 ? min($0, Caller.connectTime) : Caller.connectTime }
    guard
      let client = WebClient(
        agent: "\(diagnostics.program)/\(suiteVersion)",
        connectTimeout: wait ?? Caller.connectTime, authorities: access.authorities)
    else { throw CallFailure("libcurl", "out of memory", .failure) }
    self.init(backend, client: client, maxTime: maxTime, diagnostics: diagnostics)
  }
}
