import CLibc
import Core

/// How a host is reached by OpenSSH: its command lines, in which what its configuration says stays,
/// but for what would break us; and what its log is read with.
final class SSHPlan {
  private let program = OpenSSHLink.program
  let request: LinkRequest
  /// What it says it would do.
  private let settings: SSHSettings
  /// Where the host's keys are.
  private let place: HostKeyPlace
  private let policy: HostKeyPolicy
  /// The files of host keys that it honours; new ones go into the first.
  private let knownHosts: [String]
  private var hasTold = false

  /// Where sockets and logs are. Pins that are damaged are told before anything is asked.
  static func place(_ request: LinkRequest) throws(HostFailure) -> ControlPlace {
    try Failure.rethrowing(try PinFile.check(request.pins)) {
      HostFailure.hostKeyUnknown(why: $0.message)
    }
    return try Failure.rethrowing(
      try ControlPlace(request, program: OpenSSHLink.program)
    ) { HostFailure.local(why: $0.message) }
  }

  /// - Parameter settings: what `ssh -G` said, when it has been asked already.
  init(
    _ request: LinkRequest, _ settings: SSHSettings?, _ wait: HostWait
  ) throws(HostFailure) {
    let said = if let settings { settings } else { try SSHSettings.ask(request.destination, wait) }
    guard let settings = said else {
      throw .local(why: "\(OpenSSHLink.program): not installed")
    }
    self.request = request
    self.settings = settings
    place = settings.keyPlace ?? request.destination.keyPlace
    do throws(Failure) {
      policy = try HostKeyPolicy(
        place, pins: request.pins, knownHosts: request.options.knownHosts)
      for note in policy.notes { request.note(note) }
      knownHosts = try policy.filesForOpenSSH(folder: request.stateFolder)
    } catch {
      throw error.status == .denied
        ? .hostKeyUnknown(why: error.message) : .local(why: error.message)
    }
  }

  /// What it would do for a host.
  static func question(_ destination: Destination) -> [String] {
    [OpenSSHLink.program, "-G"] + target(destination)
  }

  /// A remote command on the terminal that it is started on.
  ///
  /// - Parameter log: a file or FIFO for its log.
  func terminal(_ command: String, log: String) -> [String] {
    var words = [program, "-tt", "-E", log, "-S", "none", "-o", "ControlMaster=no"]
    if settings.knows("sessiontype") { words += ["-o", "SessionType=default"] }
    if settings.knows("forkafterauthentication") { words += ["-o", "ForkAfterAuthentication=no"] }
    return words + common + Self.target(request.destination) + [command]
  }

  /// A master that takes calls at a socket, and ends a minute after the last one.
  ///
  /// - Parameter isAlone: whether there is nobody to ask.
  func master(socket: String, log: String, isAlone: Bool) -> [String] {
    // It goes to the background once it takes calls.
    var words = [program, "-M", "-N", "-f", "-T", "-a", "-x", "-E", log]
    words += [
      "-S", Self.literal(socket), "-o", "ControlPersist=60", "-o", "ClearAllForwardings=yes",
    ]
    if isAlone { words += ["-o", "BatchMode=yes"] }
    return words + common + Self.target(request.destination)
  }

  private var common: [String] {
    var options = [
      "LogLevel=DEBUG1", "FingerprintHash=sha256", "RemoteCommand=none", "PermitLocalCommand=no",
      "VisualHostKey=no", "EscapeChar=none",
      "StrictHostKeyChecking=" + (policy.needsCertificate ? "yes" : "accept-new"),
      "UserKnownHostsFile=" + knownHosts.map(Self.quoted).joined(separator: " "),
      "GlobalKnownHostsFile=/dev/null", "HashKnownHosts=no", "UpdateHostKeys=no",
      "CheckHostIP=no", "NoHostAuthenticationForLocalhost=no", "VerifyHostKeyDNS=no",
      "ExitOnForwardFailure=no", "ConnectionAttempts=1",
      "ConnectTimeout=\(Self.whole(request.connectTimeout))",
      "ServerAliveInterval=\(Self.whole(request.options.keepalive))", "ServerAliveCountMax=2",
    ]
    if settings.knows("stdinnull") { options.append("StdinNull=no") }
    if settings.value("knownhostscommand") != nil { options.append("KnownHostsCommand=none") }
    if let identity = request.identity {
      // One more key of the agent's, and the host may have had enough of keys.
      if !request.options.usesAgent { options.append("IdentitiesOnly=yes") }
      options.append("IdentityFile=" + Self.quoted(identity))
    } else if case let own = OwnKey.path(in: request.stateFolder), access(own, R_OK) == 0 {
      // A key that is named keeps OpenSSH from its usual ones: name these, too.
      options += settings.all("identityfile").map { "IdentityFile=" + $0 }
      options.append("IdentityFile=" + Self.quoted(own))
    }
    return options.flatMap { ["-o", $0] }
  }

  private static func target(_ destination: Destination) -> [String] {
    var words: [String] = []
    if let port = destination.port { words += ["-p", String(port)] }
    if let user = destination.user { words += ["-l", user] }
    return words + ["--", destination.host]
  }

  private static func quoted(_ path: String) -> String {
    let escaped = literal(path).exchanging("\\", for: "\\\\").exchanging("\"", for: "\\\"")
    return "\"" + escaped + "\""
  }

  private static func literal(_ path: String) -> String { path.exchanging("%", for: "%%") }

  private static func whole(_ seconds: Double) -> Int { max(1, Int(seconds.rounded(.up))) }

  /// Tells of a key that was pinned just now, once, as it stands in the pins.
  func tellPin(_ log: SSHLog) throws(HostFailure) {
    guard log.pinned != nil, !hasTold else { return }
    hasTold = true
    let keys = try Failure.rethrowing(
      try PinFile(path: request.pins).keys(of: place)
    ) { HostFailure.hostKeyUnknown(why: $0.message) }
    for key in keys {
      request.tell("\(place.name): new host, pinned its \(key.kind) key \(key.fingerprint)")
    }
  }

  func judge(_ log: SSHLog, _ child: ChildProcess, _ talk: [String]) -> Ending {
    let (policy, settings, destination) = (policy, settings, request.destination)
    let facts = SSHLog.Circumstances(
      status: child.exitStatus, signal: child.endSignal, talk: talk,
      hasProxy: settings.value("proxyjump") != nil || settings.value("proxycommand") != nil,
      silence: request.options.keepalive * 3, ours: { settings.list($0) },
      changed: { type, fingerprint, isRevoked in
        var warning = policy.warning(type: type, fingerprint: fingerprint)
        warning.alias = destination
        if isRevoked, !warning.isRevoked {
          // By a file of OpenSSH's own.
          (warning.isRevoked, warning.known) = (true, [])
        }
        return warning.failure
      })
    return log.ending(facts)
  }
}
