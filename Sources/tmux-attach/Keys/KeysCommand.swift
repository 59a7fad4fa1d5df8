import Core
import Shell

/// The jobs about keys: the host's, which are pinned, and ours, which it lets in.
enum KeysCommand {
  /// Does the job of the options.
  ///
  /// - Returns: the exit status.
  /// - Throws: `UsageError` for options that do not fit.
  static func run(_ options: AttachOptions, _ diagnostics: Diagnostics) throws(UsageError) -> Int32
  {
    do throws(TargetError) {
      switch options.job {
      case .fingerprint: return try PinJobs.fingerprint(options, diagnostics).rawValue
      case .forget: return try PinJobs.forget(options, diagnostics).rawValue
      case .authorize: return try Authorize.run(options, diagnostics).rawValue
      default: return try Check.run(options, diagnostics)
      }
    } catch {
      diagnostics.fail(error, AttachOptions.table)
    }
  }

  static func settings(_ diagnostics: Diagnostics) throws(TargetError) -> Settings {
    do throws(SettingsError) {
      return try Settings(diagnostics: diagnostics)
    } catch {
      throw .settings(error)
    }
  }

  /// What the options and the configuration say of the host.
  static func request(
    _ options: AttachOptions, _ diagnostics: Diagnostics
  ) throws(TargetError) -> LinkRequest {
    var request = try LinkRequest.make(
      host: options.host, options: options.connect, settings: settings(diagnostics))
    request.note = { diagnostics.note($0) }
    request.tell = { diagnostics.say($0) }
    request.ask = { Prompt.ask($0) }
    return request
  }

  /// Writes lines to standard output.
  static func write(_ lines: [String], _ diagnostics: Diagnostics) {
    do throws(WriteFailure) {
      let writer = RecordWriter()
      for line in lines { try writer.write(line + "\n") }
      try writer.flush()
    } catch {
      diagnostics.fail(writing: error)
    }
  }
}
