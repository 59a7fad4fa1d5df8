import CLibc
import Core

extension LinkRequest {
  /// Makes a link by the transport that is asked for, or that fits the host.
  public func link(_ wait: @escaping HostWait) throws(HostFailure) -> any Link {
    if destination.isHere { return LocalLink() }
    func note(_ transport: TransportName, _ why: String) {
      self.note("\(destination.name): by \(transport.rawValue): \(why)")
    }
    switch options.transport {
    case .libssh2:
      note(.libssh2, "asked for")
      return try libssh2(SharedLink(self), wait)
    case .ssh:
      note(.ssh, "asked for")
      return try openSSH(nil, wait)
    case .auto: break
    }
    if !isForTerminal, !isFresh, OpenSSHLink.hasMaster(self) {
      // Chosen before by the same request: there is nothing to ask.
      note(.ssh, "a connection is up already")
      return try openSSH(nil, wait)
    }
    if let shared = SharedLink(self) {
      note(.libssh2, "a terminal is attached by it")
      return try libssh2(shared, wait)
    }
    let settings = try SSHSettings.ask(destination, wait)
    if let settings, let reason = transportFacts.reasonForOpenSSH(settings) {
      note(.ssh, reason)
      return try openSSH(settings, wait)
    }
    note(.libssh2, settings == nil ? "no ssh here" : "a plain host")
    do throws(HostFailure) {
      return try libssh2(SharedLink(self), wait)
    } catch .noCommonAlgorithm(let detail) where settings != nil {
      self.note(detail)
      note(.ssh, "libssh2 and the host do not agree")
      return try openSSH(settings, wait)
    }
  }

  /// By libssh2: a link for calls shares that of a terminal, if there is one that answers.
  private func libssh2(
    _ shared: SharedLink?, _ wait: @escaping HostWait
  ) throws(HostFailure) -> any Link {
    if let shared, try shared.isAnswered(wait) { return shared }
    return try SSH2Link(self, wait)
  }

  private func openSSH(
    _ settings: SSHSettings?, _ wait: @escaping HostWait
  ) throws(HostFailure) -> any Link {
    // What is written to an ssh that has ended must not end us.
    clibc_signal_ignore(SIGPIPE)
    return isForTerminal
      ? try SSHTerminalLink(self, settings, wait) : try OpenSSHLink(self, settings, wait)
  }

  private var transportFacts: TransportFacts {
    // A file that is damaged is the chosen link's to tell.
    let policy = try? HostKeyPolicy(
      destination.keyPlace, pins: pins, knownHosts: options.knownHosts)
    return TransportFacts(
      host: destination.host, user: destination.user, login: Self.login ?? "",
      port: destination.port,
      usesAgent: options.usesAgent, keyProblem: identity.flatMap(TransportFacts.problem),
      knownTypes: policy?.preferredTypes ?? [],
      needsCertificate: policy?.needsCertificate ?? false)
  }

  /// The user's name on this machine; nil where nobody knows it.
  static var login: String? {
    guard let entry = getpwuid(getuid()), let name = entry.pointee.pw_name else { return nil }
    return String(cString: name)
  }
}

/// A connection that another process of the user has: commands go to its control
/// socket. Where that process does not answer, or takes no more commands, a connection
/// of our own is made.
final class SharedLink: Link {
  private let request: LinkRequest
  private let path: String
  /// Asks whether the other process answers; the first command then goes over it.
  private var contact: MuxConnection?
  private var own: SSH2Link?

  /// Seconds: one that is stopped never answers.
  private static let patience = 0.3

  /// Nil when nobody serves what is asked for.
  init?(_ request: LinkRequest) {
    guard !request.isForTerminal, !request.isFresh,
      let place = try? ControlPlace(shared: request), let contact = MuxConnection(place.socket)
    else { return nil }
    clibc_signal_ignore(SIGPIPE)
    self.request = request
    self.contact = contact
    path = place.socket
  }

  let transport = TransportName.libssh2
  var ending: HostFailure? { own?.ending }
  var deadline: Double? { own?.deadline }
  func wants(_ set: inout PollSet) { own?.wants(&set) }
  func advance(_ set: PollSet, now: Double) { own?.advance(set, now: now) }
  func close() { own?.close() }

  /// Whether the other process answers.
  func isAnswered(_ wait: HostWait) throws(HostFailure) -> Bool {
    guard let contact else { return false }
    try contact.wait(atMost: Self.patience, wait) { contact.master != nil }
    switch contact.phase {
    case .refused(let why): noteOwn(why)
    case .gone: noteOwn("it has gone")
    case _ where contact.master == nil: noteOwn("it does not answer")
    default:
      let process = contact.master.map { "\($0)" } ?? ""
      request.note(
        "\(request.destination.name): by libssh2: shares the connection of process \(process)")
      return true
    }
    return false
  }

  func run(_ command: String, _ wait: @escaping HostWait) throws(HostFailure) -> any Channel {
    if let own { return own.start(command) }
    guard command.utf8.count <= SSH2Link.longestCommand else { throw .tooLong }
    let patience = request.options.keepalive * 3 + 1
    let contact = contact
    self.contact = nil
    let channel = try MuxChannel.start(
      command, path, over: contact, patience: patience, wait,
      cut: { _ in .failed(.linkLost(why: "the shared connection is gone")) })
    if let channel, let connection = channel.connection {
      if connection.hasOpened { return channel }
      switch connection.phase {
      case .refused: noteOwn("it does not take the command")
      case .gone: throw .linkLost(why: "the process that had it is gone")
      // It may have reached the host all the same: nobody does it twice.
      default: throw .silent(seconds: patience)
      }
    } else {
      noteOwn("it has gone")
    }
    let own = try SSH2Link(request, wait)
    self.own = own
    return own.start(command)
  }

  private func noteOwn(_ why: String) {
    request.note("\(request.destination.name): shares no connection: \(why)")
  }
}

/// What decides which transport fits a host, beside OpenSSH's settings: `--transport auto`.
struct TransportFacts: Sendable {
  /// As the user named the host (or a section did).
  var host: String
  /// The user that was named; nil for none.
  var user: String?
  /// The user who asks.
  var login: String
  /// The port that was named; nil for none.
  var port: Int?
  /// Whether ssh-agent's keys are wanted.
  var usesAgent = false
  /// Why the key file that was named is nothing for libssh2; nil when it is fine,
  /// or none was named.
  var keyProblem: String?
  /// Types of the host's known keys, as `HostKeyPolicy.preferredTypes`.
  var knownTypes: [String] = []
  /// Whether the host is to show a certificate, as `HostKeyPolicy.needsCertificate`.
  var needsCertificate = false

  /// Why OpenSSH is needed: its configuration says what libssh2 cannot do or would not do in the same
  /// way. Nil where libssh2 will do.
  func reasonForOpenSSH(_ settings: SSHSettings) -> String? {
    keyProblem ?? knownKeys ?? alias(settings) ?? abilities(settings) ?? algorithms(settings)
  }

  private var knownKeys: String? {
    if needsCertificate { return "an authority signs its keys (@cert-authority)" }
    guard !knownTypes.isEmpty, !knownTypes.contains(where: SSH2Algorithms.userKeys.contains) else {
      return nil
    }
    return "only its \(HostKey.kind(of: knownTypes[0])) key is known"
  }

  private func alias(_ settings: SSHSettings) -> String? {
    if let name = settings.hostname, name.lowercased() != host.lowercased() {
      return "an alias of ssh_config for \(name)"
    }
    if user == nil, let user = settings.user, user != login {
      return "ssh_config names the user \(user)"
    }
    if port == nil, settings.port != 22 {
      return "ssh_config names the port \(settings.port)"
    }
    return nil
  }

  private func abilities(_ settings: SSHSettings) -> String? {
    let given = [
      "proxyjump": "ProxyJump", "proxycommand": "ProxyCommand", "hostkeyalias": "HostKeyAlias",
      "certificatefile": "CertificateFile", "pkcs11provider": "PKCS11Provider",
      "knownhostscommand": "KnownHostsCommand", "bindaddress": "BindAddress",
      "bindinterface": "BindInterface", "localforward": "LocalForward",
      "remoteforward": "RemoteForward", "dynamicforward": "DynamicForward", "setenv": "SetEnv",
    ]
    for (keyword, name) in given.sorted(by: { $0.key < $1.key })
    where settings.value(keyword) != nil {
      return "ssh_config has \(name)"
    }
    if settings.isOn("forwardagent") { return "ssh_config has ForwardAgent" }
    if let family = settings.value("addressfamily"), family != "any" {
      return "ssh_config has AddressFamily"
    }
    if settings.namesIdentities { return "ssh_config names the key" }
    if usesAgent, settings.value("identityagent") != nil {
      return "ssh_config has IdentityAgent"
    }
    return nil
  }

  /// All that libssh2 would offer must be what the user lets OpenSSH use.
  private func algorithms(_ settings: SSHSettings) -> String? {
    for (keyword, name, ours) in [
      ("kexalgorithms", "KexAlgorithms", SSH2Algorithms.exchange),
      ("hostkeyalgorithms", "HostKeyAlgorithms", Array(SSH2Algorithms.hostKey.prefix(2))),
      ("ciphers", "Ciphers", SSH2Algorithms.cipher), ("macs", "MACs", SSH2Algorithms.mac),
    ] where settings.knows(keyword) {
      let allowed = settings.list(keyword)
      if let missing = ours.first(where: { !allowed.contains($0) }) {
        return "ssh_config's \(name) leave out \(missing)"
      }
    }
    return nil
  }
}

extension TransportFacts {
  /// Why OpenSSH is needed for a key file; nil when libssh2 will do or it cannot be read at all.
  static func problem(ofKey path: String) -> String? {
    if access(path + "-cert.pub", F_OK) == 0 { return "a certificate lies beside the key" }
    guard let file = try? PrivateKeyFile(path: path) else { return nil }
    guard let type = file.publicKey?.type ?? typeBeside(path) else {
      return "the key is not in OpenSSH's form"
    }
    return SSH2Algorithms.userKeys.contains(type)
      ? nil : "the key is of the type \(HostKey.kind(of: type))"
  }

  private static func typeBeside(_ path: String) -> String? {
    guard let bytes = try? StateFile(path: path + ".pub").read(limit: 65536) else { return nil }
    return HostKey.publicLine(bytes)?.key.type
  }
}
