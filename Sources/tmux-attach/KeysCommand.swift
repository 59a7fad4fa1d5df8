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
