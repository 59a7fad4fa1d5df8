public import Core

/// A host as the user named it: `box`, `ada@box`, `ada@box:2222`, `[::1]:2222`,
/// `ssh://ada@box:2222`, or `.` for this machine.
public struct Destination: Equatable, Sendable {
  /// As written, without user and port: a name, an address, an alias of
  /// ssh_config(5), or a section of the configuration.
  public var name: String
  /// What to connect to: the section's `hostname`, else `name`.
  public var host: String
  /// 1 to 65535; nil when nothing said one.
  public var port: Int?
  /// The user on the host; nil when nothing said one.
  public var user: String?
  /// Whether it is this machine, reached without a network: `.`.
  public var isHere: Bool { host == "." }
  /// The section `[host NAME]` of the configuration, if there is one.
  public var section: Configuration.HostSection?

  /// Reads a host's name; a section of the configuration is laid under it by
  /// `ConnectOptions`.
  ///
  /// - Throws: `UsageError` for text that cannot be a host: empty, with a dash in front
  ///   (ssh would read it as an option), with control characters or blanks, with a port
  ///   outside 1 to 65535, with a path behind ssh://.
  public init(_ text: String) throws(UsageError) {
    var rest = Substring(text)
    let isAddress = rest.hasPrefix("ssh://")
    if isAddress {
      rest = rest.dropFirst(6)
      if rest.hasSuffix("/") { rest = rest.dropLast() }
    }
    var user: Substring?
    if let at = rest.lastIndex(of: "@") {
      user = rest[..<at]
      rest = rest[rest.index(after: at)...]
    }
    var port: Substring?
    if rest.hasPrefix("["), let end = rest.firstIndex(of: "]") {
      let behind = rest[rest.index(after: end)...]
      rest = rest[rest.index(after: rest.startIndex)..<end]
      if behind.hasPrefix(":") {
        port = behind.dropFirst()
      } else if !behind.isEmpty {
        throw UsageError("\(text): not a host")
      }
    } else if let colon = rest.lastIndex(of: ":"), rest.firstIndex(of: ":") == colon {
      // One colon alone: an IPv6 address has two at least.
      port = rest[rest.index(after: colon)...]
      rest = rest[..<colon]
    }
    guard Self.isHost(rest), user.map(Self.isPlain) ?? true else {
      throw UsageError("\(text): not a host")
    }
    name = String(rest)
    host = name
    self.user = user.map(String.init)
    if let port {
      guard port.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int(port),
        1...65535 ~= number
      else { throw UsageError("\(text): not a port: \(port)") }
      self.port = number
    }
  }

  /// Where its keys are, unless OpenSSH's configuration knows it by another name.
  public var keyPlace: HostKeyPlace { HostKeyPlace(host: host, port: port ?? 22) }

  /// Nothing that means more than itself in a file of host keys, either.
  static func isHost(_ text: some StringProtocol) -> Bool {
    isPlain(text) && !text.utf8.contains { #"[]*?!,|#@"#.utf8.contains($0) }
  }

  static func isPlain(_ text: some StringProtocol) -> Bool {
    !text.isEmpty && !text.hasPrefix("-")
      && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7f && $0 != "/" }
  }
}

extension Destination {
  /// Fills in from a section what was not written with the host.
  mutating func lay(over section: Configuration.HostSection) throws(Failure) {
    self.section = section
    if let hostname = section.hostname {
      guard Destination.isHost(hostname) else {
        throw Failure("host \(name)", "hostname \(hostname): not a host")
      }
      host = hostname
    }
    if let login = section.user, user == nil {
      guard Destination.isPlain(login) else {
        throw Failure("host \(name)", "user \(login): not a user")
      }
      user = login
    }
    if let label = section.label, !ConnectOptions.isLabel(label) {
      throw Failure("host \(name)", "label \(label): not a label of tmux")
    }
    if port == nil { port = section.port }
  }
}

/// The name under which a host's keys are kept.
public struct HostKeyPlace: Equatable, Sendable {
  /// A name or address.
  public var host: String
  /// 1 to 65535; OpenSSH's HostKeyAlias has none, which is 22.
  public var port: Int
  /// As people and OpenSSH's files write it: `box`, `[box]:2222`.
  public var name: String { port == 22 ? host : "[\(host)]:\(port)" }
  /// The name in small letters, as it is looked up.
  var key: String { name.lowercased() }
  /// That, and the one without the port, for which OpenSSH asks, too.
  var names: [String] { [key, host.lowercased()] }
}
