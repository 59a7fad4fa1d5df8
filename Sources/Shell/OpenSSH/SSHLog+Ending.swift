import Core

extension SSHLog {
  /// What is known beside the log when ssh has ended.
  public struct Circumstances: Sendable {
    /// Its exit status; nil when a signal ended it.
    public var status: Int32?
    /// The signal that ended it.
    public var signal: Int32?
    /// What it printed on its terminal before the session: the proxy's words, too.
    public var talk: [String] = []
    /// Whether it went by a proxy or another host.
    public var hasProxy = false
    /// Seconds of silence after which it gives up.
    public var silence = 0.0
    /// What this side would have taken, by `ssh -G`'s keyword.
    public var ours: @Sendable (String) -> [String] = { _ in [] }
    /// The wall before a host with another key.
    public var changed:
      @Sendable (_ type: String, _ fingerprint: String, _ isRevoked: Bool) -> HostFailure

    /// - Parameter changed: made of the pins and the key that the host shows.
    public init(
      changed:
        @escaping @Sendable (_ type: String, _ fingerprint: String, _ isRevoked: Bool)
        -> HostFailure
    ) {
      self.changed = changed
    }
  }

  /// Why ssh ended. Its status alone does not tell: 255 is the remote's, too.
  public func ending(_ facts: Circumstances) -> Ending {
    if (isEntered || isStarted) && !isUntrusted { return endOfSession(facts) }
    return .failed(failure(facts))
  }

  /// Whether the host's key was not believed.
  private var isUntrusted: Bool {
    isKeyChanged || isKeyRevoked || cannotPin || isKeyRefused && !isSignedIn
  }

  /// Why no session came about.
  private func failure(_ facts: Circumstances) -> HostFailure {
    if isKeyChanged || isKeyRevoked {
      return facts.changed(hostKey?.type ?? "", hostKey?.fingerprint ?? "", isKeyRevoked)
    }
    if cannotPin { return .hostKeyUnknown(why: "the host's key is new and cannot be pinned") }
    if isKeyRefused, !isSignedIn {
      return .hostKeyUnknown(why: keyWords ?? "the host's key is not known")
    }
    if isSignedIn { return .linkLost(why: Self.plain(loss ?? lastWords ?? "closed by the host")) }
    if let denial {
      if tried.isEmpty { return .authFailed(tried: [Self.plain(denial)]) }
      let isEnough = denial.holds(HostFailure.tooManyKeys)
      return .authFailed(tried: tried + (isEnough ? ["host: \(HostFailure.tooManyKeys)"] : []))
    }
    if let mismatch { return .noCommonAlgorithm(detail: Self.detail(mismatch, facts.ours)) }
    if let signal = facts.signal { return .local(why: "ssh ended by signal \(signal)") }
    if let proxied = endOfProxy(facts) { return proxied }
    if let words = refusal ?? loss { return .connectFailed(why: Self.plain(words)) }
    if isConnected { return .connectFailed(why: Self.plain(lastWords ?? "closed by the host")) }
    // It did not even begin: an option, a file, its configuration.
    return .local(why: Self.plain(lastWords ?? facts.talk.last ?? "ssh could not begin"))
  }

  private func endOfSession(_ facts: Circumstances) -> Ending {
    if silence != nil { return .failed(.silent(seconds: facts.silence)) }
    if hasExitSignal { return .remoteSignal(name: "unknown") }
    if let exitStatus, exitStatus >= 0 { return .remoteExit(status: exitStatus) }
    if let status = facts.status, status != 255, loss == nil { return .remoteExit(status: status) }
    let why = facts.signal.map { "ssh ended by signal \($0)" }
    return .failed(.linkLost(why: why ?? Self.plain(loss ?? lastWords ?? "closed by the host")))
  }

  /// Behind a proxy ssh only sees that there is nobody; the proxy has said why.
  private func endOfProxy(_ facts: Circumstances) -> HostFailure? {
    // The name of its peer is gone with any connection, too.
    guard facts.hasProxy, lastWords?.holds("UNKNOWN port") == true else { return nil }
    var proxy = SSHLog()
    for line in facts.talk { proxy.take(line: line) }
    guard let words = facts.talk.last(where: { !$0.holds("UNKNOWN port") }) else {
      return .connectFailed(why: "no connection through the proxy")
    }
    if proxy.isKeyChanged || proxy.isKeyRevoked || proxy.isKeyRefused {
      return .hostKeyUnknown(why: "the host on the way: \(words)")
    }
    if proxy.denial != nil { return .authFailed(tried: ["on the way: \(words)"]) }
    return .connectFailed(why: "the proxy says: \(words)")
  }

  /// Without what our diagnostics say already.
  static func plain(_ words: String) -> String {
    for beginning in [
      "ssh: ", "kex_exchange_identification: ", "ssh_exchange_identification: ", "client_loop: ",
    ] where words.hasPrefix(beginning) {
      return String(words.dropFirst(beginning.count))
    }
    return words
  }

  /// Both lists in one line.
  static func detail(_ words: String, _ ours: (String) -> [String]) -> String {
    let keywords = [
      "key exchange method": "kexalgorithms", "host key type": "hostkeyalgorithms",
      "cipher": "ciphers", "MAC": "macs",
    ]
    guard let start = words.place(of: "no matching "), let end = words.place(of: " found") else {
      return plain(words)
    }
    let what = String(words[start.upperBound..<end.lowerBound])
    let theirs = words.place(of: "Their offer: ").map { String(words[$0.upperBound...]) }
    let list = keywords[what].map(ours) ?? []
    return "\(what): the host has \(theirs ?? "others")"
      + (list.isEmpty ? "" : "; ssh has \(list.joined(separator: ","))")
  }
}
