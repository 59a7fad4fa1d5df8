import CLibc

/// Where a command's token comes from: agentutils.conf(5). Never from an
/// argument, never from an environment variable's value.
public struct Credentials: Sendable {
  private let folders: Folders
  private let environment: @Sendable (String) -> String?
  /// When a command is killed that has not printed its token, by the monotonic clock. A person
  /// may have to type a passphrase: without it there is no such time.
  public var deadline = Double.infinity

  public init(
    folders: Folders,
    environment: @escaping @Sendable (String) -> String? = { Process.environment($0) }
  ) {
    (self.folders, self.environment) = (folders, environment)
  }

  /// The token to use. The first source that is given counts: one that is
  /// given and fails is an error, not a reason to try the next.
  ///
  /// 1. the option's file (`-` is standard input; pipes are fine),
  /// 2. `$CREDENTIALS_DIRECTORY/agentutils-token`, if that file exists,
  /// 3. the file that `AGENT_TOKEN_FILE` names,
  /// 4. the profile's `token-command`,
  /// 5. the profile's `token-file`,
  /// 6. `$XDG_CONFIG_HOME/agentutils/token`, if that file exists.
  ///
  /// - Parameters:
  ///   - option: the argument of `--token-file`, nil when not given.
  ///   - profile: the profile in use; nil leaves out 4 to 6, for a URL that no
  ///     profile stands for.
  /// - Returns: nil when no source is given.
  /// - Throws: `Failure`, `denied` when a file is missing, empty or open
  ///   to others or the command fails, `failure` when it cannot be read or
  ///   holds no token.
  public func token(option: String?, profile: Settings.Profile?) throws(Failure) -> Secret? {
    if let option { return try existing(option, .given) }
    if let folder = environment("CREDENTIALS_DIRECTORY"),
      let token = try TokenFile.read(Folders.join(folder, "agentutils-token"), trust: .granted)
    {
      return token
    }
    if let path = environment("AGENT_TOKEN_FILE") {
      return try existing(folders.expandHome(path), .given)
    }
    guard let profile else { return nil }
    if let command = profile.tokenCommand {
      let source = profile.name.map { "token-command of profile \($0)" } ?? "token-command"
      return try TokenCommand.run(command, source: source, deadline: deadline)
    }
    if let path = profile.tokenFile { return try existing(path, .configured) }
    return try TokenFile.read(Folders.join(folders.config, "token"), trust: .configured)
  }

  /// The token as it is now, after the one of `token` was refused. A command that prints it gets a
  /// minute.
  ///
  /// - Parameter runs: whether a command may be run for it.
  /// - Returns: nil where it cannot be read, or, as from a pipe, not twice.
  public func tokenAgain(option: String?, profile: Settings.Profile?, runs: Bool) -> Secret? {
    let given = option ?? environment("AGENT_TOKEN_FILE").map(folders.expandHome)
    if let given, given == "-" || stat(following: given)?.isRegular != true { return nil }
    if given == nil, profile?.tokenCommand != nil, !runs { return nil }
    var credentials = self
    credentials.deadline = min(deadline, Clock.monotonic + 60)
    return try? credentials.token(option: option, profile: profile)
  }

  /// The secret in a file that the configuration names.
  ///
  /// - Throws: `Failure`; `denied` when it is not there, or group or others can read it.
  public func secret(inFile path: String) throws(Failure) -> Secret {
    try existing(path, .configured)
  }

  /// What a shell command prints, as a secret.
  ///
  /// - Parameter source: what an error names instead of the command.
  /// - Throws: `Failure`; `denied` when the command fails.
  public func secret(
    fromCommand command: String, source: String
  ) throws(Failure) -> Secret {
    try TokenCommand.run(command, source: source, deadline: deadline)
  }

  /// The text of a file that the configuration names and that may have several lines.
  ///
  /// - Throws: `Failure`; `denied` when it is not there, or group or others can read it.
  public func lines(inFile path: String) throws(Failure) -> Secret {
    guard let text = try TokenFile.lines(path) else {
      throw Failure(path, "no such file", .denied)
    }
    return text
  }

  private func existing(_ path: String, _ trust: TokenFile.Trust) throws(Failure) -> Secret {
    if let token = try TokenFile.read(path, trust: trust) { return token }
    throw Failure(path, "no such file", .denied)
  }
}
