import Testing

@testable import Shell

@Suite struct TransportChoiceTests {
  private static let plain = """
    host box
    user ada
    hostname box
    port 22
    addressfamily any
    sessiontype default
    stdinnull no
    forkafterauthentication no
    ciphers chacha20-poly1305@openssh.com,aes128-ctr,aes192-ctr,aes256-ctr
    hostkeyalgorithms ssh-ed25519,ecdsa-sha2-nistp256,rsa-sha2-512
    kexalgorithms sntrup761x25519-sha512,curve25519-sha256,curve25519-sha256@libssh.org
    macs umac-64-etm@openssh.com,hmac-sha2-256,hmac-sha2-512
    identityfile ~/.ssh/id_rsa
    identityfile ~/.ssh/id_ed25519
    certificatefile none
    forwardagent no
    """

  private func choose(
    _ more: String..., facts: (inout TransportFacts) -> Void = { _ in }
  ) -> String? {
    var seen = TransportFacts(host: "box", user: nil, login: "ada", port: nil)
    facts(&seen)
    // Of lines with one keyword the first counts.
    let settings = SSHSettings((more + [Self.plain]).joined(separator: "\n"))
    return seen.reasonForOpenSSH(settings)
  }

  @Test func aPlainHostNeedsNoProgram() {
    #expect(choose() == nil)
  }

  @Test(arguments: [
    ("hostname 192.0.2.7", "an alias of ssh_config for 192.0.2.7"),
    ("user bob", "ssh_config names the user bob"),
    ("port 2222", "ssh_config names the port 2222"),
    ("proxyjump jump", "ssh_config has ProxyJump"),
    ("proxycommand nc %h %p", "ssh_config has ProxyCommand"),
    ("pkcs11provider /lib/p11.so", "ssh_config has PKCS11Provider"),
    ("hostkeyalias other", "ssh_config has HostKeyAlias"),
    ("forwardagent yes", "ssh_config has ForwardAgent"),
    ("addressfamily inet6", "ssh_config has AddressFamily"),
    ("identityfile ~/.ssh/work", "ssh_config names the key"),
    ("localforward 8080 [localhost]:80", "ssh_config has LocalForward"),
    ("ciphers aes256-gcm@openssh.com", "ssh_config's Ciphers leave out aes256-ctr"),
    ("macs hmac-sha2-256-etm@openssh.com", "ssh_config's MACs leave out hmac-sha2-256"),
    (
      "kexalgorithms mlkem768x25519-sha256",
      "ssh_config's KexAlgorithms leave out curve25519-sha256"
    ),
    ("hostkeyalgorithms rsa-sha2-512", "ssh_config's HostKeyAlgorithms leave out ssh-ed25519"),
  ])
  func whatLibSSH2DoesNotDo(line: String, reason: String) {
    #expect(choose(line) == reason)
  }

  @Test func whatWasNamedIsNoAlias() {
    #expect(
      choose("user bob", "port 2222") {
        $0.user = "bob"
        $0.port = 2222
      } == nil)
    #expect(choose { $0.host = "BOX" } == nil)
    #expect(choose("proxyjump none", "certificatefile none") == nil)
  }

  @Test func keysDecideToo() {
    #expect(choose { $0.keyProblem = "the key is of the type RSA" } != nil)
    #expect(choose { $0.knownTypes = ["ssh-rsa"] } == "only its RSA key is known")
    #expect(choose { $0.knownTypes = ["ssh-rsa", "ssh-ed25519"] } == nil)
    #expect(choose("identityagent /run/agent") == nil)
    #expect(choose("identityagent /run/agent") { $0.usesAgent = true } != nil)
  }

  @Test func whereKeysAreKept() {
    #expect(SSHSettings("hostname box\nport 2222").keyPlace?.name == "[box]:2222")
    #expect(SSHSettings("hostname box\nport 2222\nhostkeyalias it").keyPlace?.name == "it")
    #expect(SSHSettings("").keyPlace == nil)
  }
}
