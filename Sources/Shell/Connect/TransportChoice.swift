import CLibc
import Core

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
