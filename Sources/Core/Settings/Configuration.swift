import CLibc
public import Kinds

/// A section of the configuration file.
protocol ConfigurationSection {
  init()

  /// The first line of the section that could not be understood.
  var fault: Configuration.Fault? { get set }

  /// False when there is no key of this name.
  ///
  /// - Throws: `Failure` when there is, and not such a value.
  mutating func set(_ key: String, _ value: String) throws(Failure) -> Bool
}

/// What the configuration file says: agentutils.conf(5).
///
/// A fault in it never hides the rest: it is kept with its line, and only who
/// asks for the section that it damaged gets an error.
public struct Configuration: Sendable, Equatable {
  /// A section `[profile NAME]`: a backend and where its token comes from.
  public struct ProfileSection: ConfigurationSection, Sendable, Equatable {
    /// The section's name, nil when no section is in use.
    public var name: String?
    /// Where the agent is, as written; of `Settings.profile`, what `AGENT_URL` says first.
    public var place: AgentPlace?
    /// The base URL; nil where the place is none.
    public var url: String? { place?.url }
    /// The host at whose terminals the agent is; nil where its kind is not found there.
    public var host: String? {
      place?.sort == .host && kind.places.contains(.host) ? place?.text : nil
    }
    /// A shell command that prints the token.
    public var tokenCommand: String?
    /// A file that holds the token, as written; of `Settings.profile`, an absolute path.
    public var tokenFile: String?
    /// The only certificate that the server may show; nil when authorities are to vouch for it.
    public internal(set) var fingerprint: CertificateFingerprint?
    private var statedKind: KindFacts?
    /// What answers there.
    public var kind: KindFacts {
      get { statedKind ?? .usual(at: url) }
      set { statedKind = newValue }
    }
    /// The keys that only some kinds have a use for, as written.
    public var own: [String: String] = [:]
    // One of another kind does no harm: who tries another kind leaves it there.
    static let ownKeys = Set(KindFacts.all.flatMap { $0.keys.map(\.name) })
    public internal(set) var fault: Fault?

    init() {}

    /// A profile with what is known of it; its kind is the usual one of its place.
    public init(
      name: String? = nil, place: AgentPlace? = nil, tokenCommand: String? = nil,
      tokenFile: String? = nil, own: [String: String] = [:], kind: KindFacts? = nil
    ) {
      (self.name, self.place, self.own, statedKind) = (name, place, own, kind)
      (self.tokenCommand, self.tokenFile) = (tokenCommand, tokenFile)
    }

    mutating func set(_ key: String, _ value: String) throws(Failure) -> Bool {
      switch key {
      case "kind":
        guard let kind = KindFacts.named(value) else {
          throw Failure("unknown kind \(value): \(KindFacts.list())")
        }
        statedKind = kind
      case "tls-fingerprint":
        fingerprint = CertificateFingerprint(value)
        if fingerprint == nil {
          throw Failure("tls-fingerprint is not sha256: and 64 hexadecimal digits")
        }
      // What a voice server and we share is a secret, and never sent as tokens are.
      case "token-command", "secret-command": tokenCommand = value
      case "token-file", "secret-file": tokenFile = value
      case let key where Self.ownKeys.contains(key): own[key] = value
      default:
        guard let sort = AgentPlace.Sort(rawValue: key) else { return false }
        if let old = place?.sort, old != sort {
          throw Failure("a second place: the profile has a \(old.rawValue)")
        }
        place = AgentPlace(sort, value)
      }
      return true
    }
  }

  /// A section `[host NAME]`: a machine reached over SSH.
  public struct HostSection: ConfigurationSection, Sendable, Equatable {
    /// The name or address to connect to.
    public var hostname: String?
    /// 1 to 65535.
    public var port: Int?
    /// The user on that machine.
    public var user: String?
    /// The private key's file, as written.
    public var identity: String?
    /// The tmux session.
    public var session: String?
    /// The folder on that machine.
    public var directory: String?
    /// The command that starts the agent.
    public var harness: String?
    /// The label of the tmux server, as tmux -L; nil for the usual one.
    public var label: String?
    /// The label where nothing says one.
    public static let usualLabel = "riff"
    /// What is there, for people: `claude`.
    public var kind: String?
    public internal(set) var fault: Fault?

    mutating func set(_ key: String, _ value: String) throws(Failure) -> Bool {
      switch key {
      case "port":
        guard value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(value),
          (1...65535).contains(number)
        else { throw Failure("port is not a number from 1 to 65535") }
        port = number
      case "hostname": hostname = value
      case "user": user = value
      case "identity": identity = value
      case "session": session = value
      case "directory": directory = value
      case "harness": harness = value
      case "label": label = value
      case "kind": kind = value
      default: return false
      }
      return true
    }
  }

  /// A section `[bus NAME]`: the servers of a bus, and how they let us in.
  public struct BusSection: ConfigurationSection, Sendable, Equatable {
    /// The servers' URLs, as written.
    public var servers: [String] = []
    /// The stream.
    public var stream: String?
    /// A shell command that prints the token.
    public var tokenCommand: String?
    /// Files by their keys, as written.
    public var files: [String: String] = [:]
    static let fileKeys: Set = [
      "creds-file", "nkey-file", "token-file", "user-file", "ca", "cert", "key",
    ]
    public internal(set) var fault: Fault?

    mutating func set(_ key: String, _ value: String) -> Bool {
      switch key {
      case "servers": servers = value.split { $0 == "," || $0 == " " }.map(String.init)
      case "stream": stream = value
      case "token-command": tokenCommand = value
      case let key where Self.fileKeys.contains(key): files[key] = value
      default: return false
      }
      return true
    }
  }

  /// A line that was not understood.
  public struct Fault: Sendable, Equatable {
    /// The line's number, from 1.
    public let line: Int
    /// What is wrong, lower case.
    public let reason: String
  }

  /// The file; it need not exist.
  public let path: String
  /// The profile that the file names as the default.
  public internal(set) var defaultProfile: String?
  /// The host that the file names as the default: a section's name, or any other host.
  public internal(set) var defaultHost: String?
  /// The list of prices that the file names, as written.
  public internal(set) var prices: String?
  /// The first line for which the default profile or host cannot be told: a broken
  /// heading, or a broken line before the first one.
  public internal(set) var defaultFault: Fault?
  /// By name.
  public internal(set) var profiles: [String: ProfileSection] = [:]
  /// By name.
  public internal(set) var hosts: [String: HostSection] = [:]
  /// By name.
  public internal(set) var buses: [String: BusSection] = [:]
  /// All faults, in the order of the lines.
  public internal(set) var faults: [Fault] = []

  /// The longest file that is read, bytes.
  public static let sizeLimit = 1 << 20

  /// An empty configuration.
  public init(path: String) { self.path = path }

  /// Reads a file; one that is not there is an empty configuration.
  ///
  /// - Throws: `Failure` when the file exists and cannot be read, is no
  ///   regular file, is over `sizeLimit`, or could be somebody else's word: it names
  ///   commands to run.
  public init(contentsOf path: String) throws(Failure) {
    self.init(path: path)
    guard let file = try BoundedFile.contents(of: path, limit: Self.sizeLimit) else { return }
    if let danger = Self.danger(file.status) { throw Failure(path, "refused: \(danger)") }
    ConfigurationParser.read(try ForeignText.text(file.bytes, of: path), into: &self)
  }

  /// As ssh(1): whoever may write to it can run commands as this user. Nil when it is safe.
  private static func danger(_ file: stat) -> String? {
    if file.st_uid != 0 && file.st_uid != getuid() {
      return "it belongs to another user (chown)"
    }
    return file.st_mode & 0o022 == 0 ? nil : "others can write to it (chmod go-w)"
  }

  /// Says each fault, `prog: file:line: reason`, the first twenty of them.
  public func report(to diagnostics: Diagnostics) {
    for fault in faults.prefix(20) {
      diagnostics.fault(file: path, line: fault.line, fault.reason)
    }
    if faults.count > 20 { diagnostics.error(path, "\(faults.count - 20) more faults") }
  }
}
