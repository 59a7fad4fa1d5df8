import CLibc
import Core

/// What `ssh -E` tells at LogLevel DEBUG1, line by line: how far it is, and in the end
/// why it ended. Text of the host may stand in it, so nothing is believed for the sake
/// of trust: fingerprints that are shown as pinned come from the pins.
struct SSHLog: Sendable {
  /// Whether keys and passwords are being tried.
  private(set) var hasAuthenticationBegun = false
  /// Whether the host let us in.
  private(set) var isSignedIn = false
  /// Whether the remote command was asked for: what comes from then on may be its.
  private(set) var isStarted = false
  /// Whether the session is over: what comes now are ssh's own last words.
  private(set) var isOver = false
  /// Whether a master takes calls.
  private(set) var takesCalls = false
  /// The host's name in the pins when its key was just pinned.
  private(set) var pinned: String?
  /// The key that the host shows: its type and `SHA256:...`.
  private(set) var hostKey: (type: String, fingerprint: String)?
  /// Whether a key that is new could not be pinned: nothing may go on.
  private(set) var cannotPin = false
  /// How many lines came.
  private(set) var count = 0

  private var partial: [UInt8] = []
  var isEntered = false
  var isConnected = false
  var exitStatus: Int32?
  var hasExitSignal = false
  var tried: [String] = []
  var isKeyChanged = false
  var isKeyRevoked = false
  var isKeyRefused = false
  var keyWords: String?
  /// The last line that is not a note, and the one that tells most.
  var lastWords: String?
  var silence: String?
  var denial: String?
  var mismatch: String?
  var refusal: String?
  var loss: String?

  private static let lineLimit = 8192

  /// Takes what has come.
  mutating func append(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      if byte == 10 {
        append(line: String(decoding: partial, as: UTF8.self))
        partial.removeAll(keepingCapacity: true)
      } else if byte != 13, partial.count < Self.lineLimit {
        partial.append(byte)
      }
    }
  }

  /// Takes a line.
  mutating func append(line: String) {
    count += 1
    if line.hasPrefix("debug") {
      guard let colon = line.place(of: ": ") else { return }
      note(line[colon.upperBound...])
    } else if !line.isEmpty {
      statement(line)
    }
  }

  private mutating func note(_ text: Substring) {
    if text.hasPrefix("Remote: ") { return }
    if text.hasPrefix("Connection established") || text.hasPrefix("Remote protocol version") {
      isConnected = true
    } else if let rest = text.rest(behind: "Server host key: ") {
      let words = rest.split(separator: " ")
      if words.count >= 2 { hostKey = (String(words[0]), String(words[1])) }
    } else if text.hasPrefix("SSH2_MSG_SERVICE_ACCEPT received") {
      hasAuthenticationBegun = true
    } else if let rest = text.rest(behind: "Next authentication method: ") {
      tried.append(String(rest))
    } else if let rest = text.rest(behind: "Offering public key: ") {
      // PATH TYPE FINGERPRINT ...: each key instead of the method's name.
      if tried.last == "publickey" { tried.removeLast() }
      let words = rest.split(separator: " ")
      let mark = words.firstIndex { $0.hasPrefix("SHA256:") || $0.hasPrefix("MD5:") }
      tried.append("key " + words[..<max(1, (mark ?? 1) - 1)].joined(separator: " "))
    } else if text.hasPrefix("Entering interactive session") {
      isEntered = true
    } else if text.hasPrefix("Sending command: ") || text.hasPrefix("Sending environment") {
      isStarted = true
    } else if text.hasPrefix("setting up multiplex master socket") {
      takesCalls = true
    } else if text.hasPrefix("Exit status ") {
      isOver = true
      exitStatus = Int32(text.dropFirst(12))
    } else if text.holds(": free: client-session") {
      isOver = true
    } else if text.holds(" rtype exit-signal ") {
      hasExitSignal = true
    }
  }

  private mutating func statement(_ line: String) {
    if line.hasPrefix("Authenticated to ") {
      isSignedIn = true
      return
    }
    if line.hasPrefix("Transferred: ") || line.hasPrefix("Bytes per second: ") { return }
    if line.hasPrefix("Warning: ") {
      if line.holds("Permanently added '") {
        pinned = String(line.split(separator: "'", maxSplits: 2).dropFirst().first ?? "")
      }
      return
    }
    if !line.hasPrefix("@@@") { lastWords = line }
    if line.holds("REMOTE HOST IDENTIFICATION HAS CHANGED") { isKeyChanged = true }
    if line.holds("REVOKED HOST KEY") { isKeyRevoked = true }
    if line.hasPrefix("Failed to add the host to the list of known hosts") { cannotPin = true }
    if line.hasPrefix("Host key verification failed") { isKeyRefused = true }
    if line.holds(" host key is known for ") { keyWords = line }
    // A key that was not tried, and why.
    if line.hasPrefix("Load key ") { tried.append(line) }
    if line.hasPrefix("Timeout, server ") { silence = line }
    if line.holds("Permission denied (") || line.holds("Too many authentication failures")
      || line.hasPrefix("No supported authentication methods")
    {
      denial = denial ?? line
    }
    if line.hasPrefix("Unable to negotiate with ") || line.hasPrefix("no matching ") {
      mismatch = line
    }
    if line.hasPrefix("ssh: ") || line.hasPrefix("kex_exchange_identification: ")
      || line.hasPrefix("ssh_exchange_identification: ") || line.holds(" timed out")
    {
      refusal = refusal ?? line
    }
    if line.hasPrefix("client_loop: ") || line.hasPrefix("packet_write_")
      || line.holds("onnection reset by") || line.holds("Connection closed by")
      || line.holds("Connection to ") && line.holds(" closed") || line.hasPrefix("Read from ")
      || line.hasPrefix("Received disconnect ") || line.hasPrefix("Disconnected from ")
      || line.holds("Corrupted MAC") || line.holds("Bad packet length")
      || line.holds("message authentication code incorrect") || line.hasPrefix("ssh_dispatch_run")
    {
      loss = loss ?? line
    }
  }
}

extension Substring {
  func rest(behind beginning: String) -> Substring? {
    hasPrefix(beginning) ? dropFirst(beginning.count) : nil
  }
}

/// Where an ssh writes its log: a FIFO, so that the loop hears of each line at once.
final class SSHLogPipe {
  private(set) var log = SSHLog()
  /// For `-E`.
  let path: String
  private var descriptor: Int32

  init(in folder: String, name: String) throws(Failure) {
    path = folder + "/" + name
    descriptor = clibc_fifo(path)
    guard descriptor >= 0 else { throw Failure(path, systemReason(systemError)) }
  }

  deinit { close() }

  func wants(_ set: inout PollSet) { set.add(descriptor) }

  /// Reads what there is: whether anything came.
  @discardableResult
  func pump() -> Bool {
    guard descriptor >= 0 else { return false }
    let before = log.count
    var bytes: [UInt8] = []
    _ = ChildProcess.drain(descriptor, into: &bytes)
    log.append(bytes)
    return log.count != before
  }

  func close() {
    guard descriptor >= 0 else { return }
    CLibc.close(descriptor)
    descriptor = -1
    unlink(path)
  }
}

extension SSHLog {
  /// What is known beside the log when ssh has ended.
  struct Circumstances: Sendable {
    /// Its exit status; nil when a signal ended it.
    var status: Int32?
    /// The signal that ended it.
    var signal: Int32?
    /// What it printed on its terminal before the session: the proxy's words, too.
    var talk: [String] = []
    /// Whether it went by a proxy or another host.
    var hasProxy = false
    /// Seconds of silence after which it gives up.
    var silence = 0.0
    /// What this side would have taken, by `ssh -G`'s keyword.
    var ours: @Sendable (String) -> [String] = { _ in [] }
    /// The wall before a host with another key.
    var changed: @Sendable (_ type: String, _ fingerprint: String, _ isRevoked: Bool) -> HostFailure
  }

  /// Why ssh ended. Its status alone does not tell: 255 is the remote's, too.
  func ending(_ facts: Circumstances) -> Ending {
    if (isEntered || isStarted) && !isUntrusted { return endOfSession(facts) }
    return .failed(failure(facts))
  }

  private var isUntrusted: Bool {
    isKeyChanged || isKeyRevoked || cannotPin || isKeyRefused && !isSignedIn
  }

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
    for line in facts.talk { proxy.append(line: line) }
    guard let words = facts.talk.last(where: { !$0.holds("UNKNOWN port") }) else {
      return .connectFailed(why: "no connection through the proxy")
    }
    if proxy.isKeyChanged || proxy.isKeyRevoked || proxy.isKeyRefused {
      return .hostKeyUnknown(why: "the host on the way: \(words)")
    }
    if proxy.denial != nil { return .authFailed(tried: ["on the way: \(words)"]) }
    return .connectFailed(why: "the proxy says: \(words)")
  }

  static func plain(_ words: String) -> String {
    for beginning in [
      "ssh: ", "kex_exchange_identification: ", "ssh_exchange_identification: ", "client_loop: ",
    ] where words.hasPrefix(beginning) {
      return String(words.dropFirst(beginning.count))
    }
    return words
  }

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
