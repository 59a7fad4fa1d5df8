import CLibc
import Core

extension Caller {
  /// A caller of the backend that the configuration, the environment and the
  /// options name together.
  ///
  /// - Parameters:
  ///   - profile: the argument of `--profile`, nil when not given.
  ///   - tokenFile: the argument of `--token-file`.
  ///   - allowPlaintext: `--allow-plaintext`.
  ///   - authorities: the argument of `--cacert`.
  ///   - maxTime: the argument of `--max-time`, seconds.
  ///   - diagnostics: for notes, faults of the configuration, and the name that
  ///     requests carry.
  /// - Throws: `CallFailure`: no such profile, no URL, no token to be had, no
  ///   such file of authorities.
  public convenience init(
    profile: String?, tokenFile: String?, allowPlaintext: Bool, authorities: String?,
    maxTime: Double?, diagnostics: Diagnostics
  ) throws(CallFailure) {
    let backend: Backend
    do throws(SettingsError) {
      let settings = try Settings()
      backend = try Backend(
        settings: settings, profile: profile, tokenFile: tokenFile,
        allowPlaintext: allowPlaintext)
      // A fault of the profile in use is an error, told once; others are warnings.
      settings.configuration.report(to: diagnostics)
    } catch {
      throw CallFailure(error)
    }
    if let authorities, access(authorities, R_OK) != 0 {
      throw CallFailure(authorities, systemReason(systemError), .failure)
    }
    let wait = maxTime.map { $0 > 0 ? min($0, Caller.connectTime) : Caller.connectTime }
    guard
      let client = WebClient(
        agent: "\(diagnostics.program)/\(suiteVersion)",
        connectTimeout: wait ?? Caller.connectTime, authorities: authorities)
    else { throw CallFailure("libcurl", "out of memory", .failure) }
    self.init(backend, client: client, maxTime: maxTime, diagnostics: diagnostics)
  }
}
