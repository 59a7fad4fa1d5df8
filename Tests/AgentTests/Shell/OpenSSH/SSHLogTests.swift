import Testing

@testable import Shell

/// Logs as OpenSSH 9.2 writes them, and wordings of others.
@Suite struct SSHLogTests {
  private static let opening = """
    debug1: Connecting to box [192.0.2.7] port 22.
    debug1: Connection established.
    debug1: Remote protocol version 2.0, remote software version OpenSSH_9.2p1
    debug1: Authenticating to box:22 as 'ada'
    debug1: SSH2_MSG_KEX_ECDH_REPLY received
    debug1: Server host key: ssh-ed25519 SHA256:frBpjh6i3IS5CUkOjA4IaVTwo9xuULOmUppdHlzLOYo

    """
  private static let session =
    opening + """
      debug1: SSH2_MSG_SERVICE_ACCEPT received
      debug1: Next authentication method: publickey
      debug1: Offering public key: /home/ada/my keys/id ED25519 SHA256:w3i+Yu explicit
      Authenticated to box ([192.0.2.7]:22) using "publickey".
      debug1: channel 0: new session [client-session] (inactive timeout: 0)
      debug1: Entering interactive session.
      debug1: Remote: /home/ada/.ssh/authorized_keys:1: key options: pty user-rc
      debug1: Sending command: exit 7
      debug1: pledge: fork

      """

  private func log(_ text: String) -> SSHLog {
    var log = SSHLog()
    var bytes = Array(text.utf8)
    if bytes.last != 10 { bytes.append(10) }
    // In pieces of seven: a line may come in several.
    for start in stride(from: 0, to: bytes.count, by: 7) {
      bytes[start..<min(start + 7, bytes.count)].withUnsafeBytes { log.append($0) }
    }
    return log
  }

  private func ending(
    _ text: String, status: Int32? = 255, signal: Int32? = nil, talk: [String] = [],
    hasProxy: Bool = true
  ) -> Ending {
    var facts = SSHLog.Circumstances { type, fingerprint, isRevoked in
      .hostKeyChanged(explanation: [type, fingerprint, isRevoked ? "revoked" : "changed"])
    }
    facts.status = status
    facts.signal = signal
    facts.talk = talk
    facts.hasProxy = hasProxy
    facts.silence = 12
    facts.ours = { $0 == "ciphers" ? ["3des-cbc"] : [] }
    return log(text).ending(facts)
  }

  @Test func aSessionsEndIsTheRemotesOwn() {
    let end = """
      debug1: client_input_channel_req: channel 0 rtype exit-status reply 0
      debug1: channel 0: free: client-session, nchannels 1
      Transferred: sent 3532, received 3284 bytes, in 0.5 seconds
      Bytes per second: sent 7213.0, received 6706.5
      debug1: Exit status
      """
    #expect(ending(Self.session + end + " 7", status: 7) == .remoteExit(status: 7))
    // 255 is the remote's own here.
    #expect(ending(Self.session + end + " 255") == .remoteExit(status: 255))
    #expect(ending(Self.session + end + " 0", status: 0) == .remoteExit(status: 0))
  }

  @Test func aSignalIsNoLoss() {
    let text = """
      debug1: client_input_channel_req: channel 0 rtype exit-signal reply 0
      debug1: channel 0: free: client-session, nchannels 1
      debug1: Exit status -1
      """
    #expect(ending(Self.session + text) == .remoteSignal(name: "unknown"))
  }

  @Test func aLinkIsLostOrSilent() {
    #expect(
      ending(Self.session + "client_loop: send disconnect: Broken pipe")
        == .failed(.linkLost(why: "send disconnect: Broken pipe")))
    let closed = "debug1: channel 0: free: client-session, nchannels 1\ndebug1: Exit status -1"
    #expect(ending(Self.session + closed) == .failed(.linkLost(why: "closed by the host")))
    #expect(
      ending(Self.session + "Read from remote host box: Connection reset by peer")
        == .failed(.linkLost(why: "Read from remote host box: Connection reset by peer")))
    #expect(
      ending(Self.session + "Timeout, server box not responding.") == .failed(.silent(seconds: 12)))
    #expect(
      ending(Self.session, status: nil, signal: 9)
        == .failed(.linkLost(why: "ssh ended by signal 9")))
  }

  @Test func aChangedKeyIsAWall() {
    let changed = """
      @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
      @    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
      @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
      Offending ED25519 key in /home/ada/pins:1
      Host key for box has changed and you have requested strict checking.
      Host key verification failed.
      """
    let key = "SHA256:frBpjh6i3IS5CUkOjA4IaVTwo9xuULOmUppdHlzLOYo"
    #expect(
      ending(Self.opening + changed)
        == .failed(.hostKeyChanged(explanation: ["ssh-ed25519", key, "changed"])))
    let revoked = """
      @       WARNING: REVOKED HOST KEY DETECTED!               @
      The ED25519 host key for box is marked as revoked.
      Host key verification failed.
      """
    #expect(
      ending(Self.opening + revoked)
        == .failed(.hostKeyChanged(explanation: ["ssh-ed25519", key, "revoked"])))
    let unknown = """
      No ED25519 host key is known for box and you have requested strict checking.
      Host key verification failed.
      """
    #expect(
      ending(Self.opening + unknown)
        == .failed(
          .hostKeyUnknown(
            why: "No ED25519 host key is known for box and you have requested strict checking.")))
  }

  @Test func aKeyThatCannotBePinnedStopsAll() {
    let text = "Failed to add the host to the list of known hosts (/nowhere/pins)."
    #expect(log(Self.opening + text).cannotPin)
    guard case .failed(.hostKeyUnknown) = ending(Self.opening + text) else {
      Issue.record("goes on")
      return
    }
  }

  @Test func refusedKeysAreNamed() {
    let text = """
      debug1: Authentications that can continue: publickey,password
      debug1: Next authentication method: publickey
      debug1: Offering public key: /home/ada/my keys/id ED25519 SHA256:g72Jty explicit
      debug1: Offering public key: ada@agent RSA SHA256:8uFz agent
      debug1: Next authentication method: password
      ada@box: Permission denied (publickey,password).
      """
    #expect(
      ending(Self.opening + text)
        == .failed(.authFailed(tried: ["key /home/ada/my keys/id", "key ada@agent", "password"])))
    let many = "Received disconnect from 192.0.2.7 port 22:2: Too many authentication failures"
    #expect(ending(Self.opening + many) == .failed(.authFailed(tried: [many])))
  }

  @Test func algorithmsAreListed() {
    let start = "Unable to negotiate with 192.0.2.7 port 22: no matching "
    #expect(
      ending(Self.opening + start + "cipher found. Their offer: aes256-gcm@openssh.com,aes128-ctr")
        == .failed(
          .noCommonAlgorithm(
            detail: "cipher: the host has aes256-gcm@openssh.com,aes128-ctr; ssh has 3des-cbc")))
    #expect(
      ending(Self.opening + start + "host key type found. Their offer: ssh-rsa")
        == .failed(.noCommonAlgorithm(detail: "host key type: the host has ssh-rsa")))
  }

  @Test func aConnectionThatFailsSaysWhy() {
    for (line, why) in [
      (
        "ssh: connect to host box port 22: Connection refused",
        "connect to host box port 22: Connection refused"
      ),
      (
        "ssh: Could not resolve hostname box: Name or service not known",
        "Could not resolve hostname box: Name or service not known"
      ),
      (
        "Connection timed out during banner exchange\nConnection to 192.0.2.7 port 22 timed out",
        "Connection timed out during banner exchange"
      ),
      (
        "kex_exchange_identification: read: Connection reset by peer\n"
          + "Connection reset by 192.0.2.7 port 22", "read: Connection reset by peer"
      ),
      (
        "ssh_exchange_identification: Connection closed by remote host",
        "Connection closed by remote host"
      ),
    ] {
      #expect(ending(line) == .failed(.connectFailed(why: why)))
    }
  }

  @Test func aProxySaysWhyOnTheTerminal() {
    let text = """
      kex_exchange_identification: Connection closed by remote host
      Connection closed by UNKNOWN port 65535
      """
    #expect(
      ending(text, talk: ["ssh: connect to host jump port 22: Connection refused"])
        == .failed(
          .connectFailed(
            why: "the proxy says: ssh: connect to host jump port 22: Connection refused")))
    #expect(
      ending(text, talk: ["ada@jump: Permission denied (publickey)."])
        == .failed(.authFailed(tried: ["on the way: ada@jump: Permission denied (publickey)."])))
    guard case .failed(.hostKeyUnknown) = ending(text, talk: ["Host key verification failed."])
    else {
      Issue.record("the jump's key does not count")
      return
    }
    #expect(ending(text) == .failed(.connectFailed(why: "no connection through the proxy")))
    // A dead connection's peer has no name, either.
    #expect(
      ending(text, hasProxy: false)
        == .failed(.connectFailed(why: "Connection closed by remote host")))
  }

  @Test func whatDoesNotBeginIsLocal() {
    #expect(
      ending("", talk: ["command-line: line 0: Bad configuration option: nosuch"])
        == .failed(.local(why: "command-line: line 0: Bad configuration option: nosuch")))
    #expect(ending("", status: nil, signal: 2) == .failed(.local(why: "ssh ended by signal 2")))
  }

  @Test func progressIsSeen() {
    #expect(!log(Self.opening).isStarted)
    #expect(log(Self.opening).hostKey?.type == "ssh-ed25519")
    #expect(log(Self.session).isStarted)
    #expect(log(Self.session).isSignedIn)
    let pinned = "Warning: Permanently added '[box]:2222' (ED25519) to the list of known hosts."
    #expect(log(Self.opening + pinned).pinned == "[box]:2222")
    #expect(log("debug1: setting up multiplex master socket").takesCalls)
  }

  /// The host's own words are notes at most.
  @Test func theHostCannotSayIt() {
    let text = """
      debug1: Remote: Sending command: x
      debug1: Remote: Exit status 3
      debug3: client.c:12 (pid 7): Entering interactive session.
      """
    let log = log(text)
    #expect(!log.isStarted)
    #expect(log.exitStatus == nil)
  }

  @Test func longLinesAreCut() {
    let log = log(String(repeating: "x", count: 100_000) + "\nssh: Could not resolve")
    #expect(log.count == 2)
  }
}
