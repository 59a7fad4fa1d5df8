import CLibc
import Core

extension LinkRequest {
  /// Puts together what the command line, the configuration and the defaults say. An
  /// option wins over what is written with the host, that over the section of the
  /// configuration. Makes the state folder.
  ///
  /// `identity` is the option's, else the section's, else nil: our own key is the
  /// libssh2 transport's affair, see `OwnKey`.
  ///
  /// - Parameters:
  ///   - host: the operand; nil for the configured default.
  ///   - options: how it is to be reached; in the request its paths are absolute.
  /// - Throws: `TargetError`: no host, a section that is at fault, a key file that
  ///   cannot be read.
  public static func make(
    host: String?, options: ConnectOptions, settings: Settings
  ) throws(TargetError) -> LinkRequest {
    var destination = try destination(host, options, settings)
    let folders = settings.folders
    do throws(SettingsError) {
      if let section = try settings.host(destination.name) {
        try destination.lay(over: section)
      }
      if let port = options.port { destination.port = port }
      var options = options
      let identity = options.identity.map { absolute(folders.expandHome($0)) }
      options.identity = identity
      options.knownHosts = options.knownHosts.flatMap { knownHosts($0, folders) }
      let state = try folders.stateFile("known_hosts")
      let pins = options.pins.map { absolute(folders.expandHome($0)) } ?? state
      options.pins = pins
      let chosen = identity ?? destination.section?.identity
      if let chosen, access(chosen, R_OK) != 0 {
        throw SettingsError(chosen, systemReason(systemError))
      }
      return LinkRequest(
        destination: destination, options: options, identity: chosen, pins: pins,
        stateFolder: folders.state)
    } catch {
      throw .settings(error)
    }
  }

  private static func destination(
    _ host: String?, _ options: ConnectOptions, _ settings: Settings
  ) throws(TargetError) -> Destination {
    var text = host
    do throws(SettingsError) {
      if text == nil { text = try settings.defaultHost() }
    } catch {
      throw .settings(error)
    }
    guard let text else {
      throw .usage(
        UsageError("no host named, and \(settings.configuration.path) has no default one"))
    }
    do throws(UsageError) {
      return try Destination(text)
    } catch {
      throw .usage(error)
    }
  }

  /// The file that is meant: OpenSSH's own where the option stands alone. That one
  /// need not exist.
  private static func knownHosts(_ path: String, _ folders: Folders) -> String? {
    guard path.isEmpty else { return absolute(folders.expandHome(path)) }
    let own = folders.expandHome("~/.ssh/known_hosts")
    return access(own, F_OK) == 0 || systemError != ENOENT ? own : nil
  }

  private static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = currentFolder() else { return path }
    return Folders.join(folder, path)
  }
}

extension Destination {
  /// Fills in from a section what was not written with the host.
  ///
  /// - Throws: `SettingsError` for a name that ssh would take for an option.
  mutating func lay(over section: Configuration.HostSection) throws(SettingsError) {
    self.section = section
    if let hostname = section.hostname {
      guard Destination.isHost(hostname) else {
        throw SettingsError("host \(name)", "hostname \(hostname): not a host")
      }
      host = hostname
    }
    if let login = section.user, user == nil {
      guard Destination.isPlain(login) else {
        throw SettingsError("host \(name)", "user \(login): not a user")
      }
      user = login
    }
    if port == nil { port = section.port }
  }
}
