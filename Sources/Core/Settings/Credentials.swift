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

extension Credentials {
  /// Whether a token may be sent to a host: over https always; over http only
  /// to this machine, into a tailnet (100.64.0.0/10, *.ts.net: encrypted below),
  /// or when the user said so. Over anything else never.
  ///
  /// - Parameter host: of the URL, an IPv6 address with or without brackets.
  public static func mayTravel(scheme: String, host: String, allowPlaintext: Bool) -> Bool {
    switch scheme.lowercased() {
    case "https": true
    case "http": allowPlaintext || isPrivate(host)
    default: false
    }
  }

  private static func isPrivate(_ host: String) -> Bool {
    // The Kelvin sign is a k in lower case, but no host name has one.
    guard host.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
    var name = host.lowercased()[...]
    if name.hasPrefix("[") && name.hasSuffix("]") {
      return ipv6(String(name.dropFirst().dropLast())).map(isPrivate(ipv6:)) ?? false
    }
    if let address = ipv6(String(name)) { return isPrivate(ipv6: address) }
    if name.hasSuffix(".") { name.removeLast() }
    if let address = ipv4(String(name)) { return isPrivate(ipv4: address) }
    if name == "localhost" { return true }
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    let isName = labels.allSatisfy { label in
      !label.isEmpty
        && label.utf8.allSatisfy { byte in
          (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2d
            || byte == 0x5f
        }
    }
    return isName && labels.count > 2 && labels.suffix(2) == ["ts", "net"]
  }

  /// 127.0.0.0/8 (RFC 1122) or 100.64.0.0/10 (RFC 6598), which Tailscale uses.
  private static func isPrivate(ipv4 address: ArraySlice<UInt8>) -> Bool {
    guard let first = address.first, let second = address.dropFirst().first else { return false }
    return first == 127 || first == 100 && second & 0xc0 == 64
  }

  /// ::1, or an IPv4 address mapped into IPv6 (RFC 4291, 2.5.5.2).
  private static func isPrivate(ipv6 address: ArraySlice<UInt8>) -> Bool {
    if address.elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]) { return true }
    return address.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff])
      && isPrivate(ipv4: address.dropFirst(12))
  }

  private static func ipv4(_ text: String) -> ArraySlice<UInt8>? {
    address(text, family: AF_INET, count: 4)
  }

  private static func ipv6(_ text: String) -> ArraySlice<UInt8>? {
    address(text, family: AF_INET6, count: 16)
  }

  private static func address(_ text: String, family: Int32, count: Int) -> ArraySlice<UInt8>? {
    // A C string would end at a NUL and show inet_pton a shorter name.
    guard !text.utf8.contains(0) else { return nil }
    var bytes = [UInt8](repeating: 0, count: count)
    return inet_pton(family, text, &bytes) == 1 ? bytes[...] : nil
  }
}

/// A token that a command prints: `pass show clanky`, `secret-tool lookup ...`.
enum TokenCommand {
  /// Runs a command by `/bin/sh -c` with nothing on its standard input and our
  /// standard error, and takes what it prints. It is in our process group: it may ask a person
  /// at the terminal.
  static func run(
    _ command: String, source: String, deadline: Double = .infinity
  ) throws(Failure) -> Secret {
    let run = CommandRun(
      ["/bin/sh", "-c", command], limit: TokenFile.limit, timeout: deadline - Clock.monotonic,
      mayAskPerson: true)
    let printed: [UInt8]
    do throws(CommandRun.Failure) {
      printed = try run.output()
    } catch {
      switch error {
      case .late: throw Failure(source, error.reason, .temporary)
      case .tooLong(let limit): throw Failure(source, "output larger than \(limit) bytes")
      case .killed: throw Failure(source, "command \(error.reason)", .denied)
      case .ended(let status):
        throw Failure(source, "command failed with status \(status)", .denied)
      case .broken, .interrupted: throw Failure(source, error.reason)
      }
    }
    return try Secret(bytes: printed, source: source)
  }
}
