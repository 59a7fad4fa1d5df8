import Core
import Shell

/// `--authorize`: the line that lets us in, and how to put it there.
enum Authorize {
  static func run(
    _ options: AttachOptions, _ diagnostics: Diagnostics
  ) throws(TargetError) -> ExitStatus {
    let line = try publicLine(options, diagnostics)
    KeysCommand.write([line, command(for: line)], diagnostics)
    return .success
  }

  /// One command for any shell, also where there is no folder yet, or new files are
  /// made for the group to write, which sshd does not trust.
  ///
  /// - Parameter line: without a single quote.
  static func command(for line: String) -> String {
    "mkdir -p -m 700 ~/.ssh && echo '\(line)' >> ~/.ssh/authorized_keys"
      + " && chmod 600 ~/.ssh/authorized_keys"
  }

  /// The public half of the key that is used for the host, or for any.
  private static func publicLine(
    _ options: AttachOptions, _ diagnostics: Diagnostics
  ) throws(TargetError) -> String {
    let settings = try KeysCommand.settings(diagnostics)
    do throws(SettingsError) {
      var identity = options.connect.identity.map(settings.folders.expandHome)
      var host = options.host
      if host == nil { host = try settings.defaultHost() }
      if identity == nil, host != nil {
        do throws(TargetError) {
          identity = try KeysCommand.request(options, diagnostics).identity
        } catch {
          diagnostics.fail(error, AttachOptions.table)
        }
      }
      if let identity { return try OwnKey.publicLine(of: identity) }
      if options.connect.usesAgent {
        throw SettingsError(
          "--authorize", "the agent may have several keys: name the one that is meant with -i")
      }
      _ = try settings.folders.stateFile("")
      return try OwnKey.publicLine(of: OwnKey.ensure(in: settings.folders.state))
    } catch {
      throw .settings(error)
    }
  }
}
