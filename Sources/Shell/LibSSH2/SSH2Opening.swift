import CLibc
import CSSH2
import Core

/// The way to a session of libssh2 in which the user is signed in, from top to bottom: the name is
/// looked up, a connection made, the host's key judged, and the keys of the user shown.
final class SSH2Opening {
  private let request: LinkRequest
  private let place: HostKeyPlace
  private let wait: HostWait
  /// When all must be done.
  private var limit: Double
  /// What the host did not take, in order.
  private var tried: [String] = []

  init(_ request: LinkRequest, _ wait: @escaping HostWait) {
    self.request = request
    place = request.destination.keyPlace
    self.wait = wait
    limit = Clock.monotonic + request.connectTimeout
  }

  func run() throws(HostFailure) -> SSH2Session {
    let policy = try Failure.rethrowing(
      try HostKeyPolicy(place, pins: request.pins, knownHosts: request.options.knownHosts)
    ) { HostFailure.hostKeyUnknown(why: $0.message) }
    for note in policy.notes { request.note(note) }
    let wire = SSH2Wire(descriptor: try dial(), now: Clock.monotonic)
    guard let session = SSH2Session(wire: wire, hostKeyTypes: policy.preferredTypes) else {
      throw .local(why: "libssh2 cannot be used")
    }
    guard try finish(session, { session.handshake() }) == 0 else { throw failure(session) }
    wire.dropGreeting()
    request.note("\(place.name): \(session.banner ?? "?") (\(session.agreement))")
    try judge(session, policy)
    request.note("signed in with \(try signIn(session))")
    return session
  }

  // MARK: - The connection

  /// Looks the name up, then tries its addresses one after the other, in the order in which the
  /// system gives them.
  private func dial() throws(HostFailure) -> Int32 {
    var addresses = try lookUp()
    let count = Int(addresses.count)
    var last: String?
    for index in 0..<count where Clock.monotonic < limit {
      let socket = clibc_connect_start(&addresses, Int32(index))
      var reason = systemReason(systemError)
      if socket >= 0 {
        // What is left of the time is shared with those that follow.
        let now = Clock.monotonic
        let code: Int32?
        do throws(HostFailure) {
          code = try connected(socket, until: now + (limit - now) / Double(count - index))
        } catch {
          close(socket)
          throw error
        }
        if code == 0 { return socket }
        close(socket)
        reason = code.map(systemReason) ?? "no answer in time"
      }
      var text = [CChar](repeating: 0, count: 64)
      clibc_address_text(&addresses, Int32(index), &text, text.count)
      let digits = text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
      last = "\(reason) (\(digits) port \(place.port))"
    }
    throw .connectFailed(why: last ?? "no answer in time")
  }

  private func lookUp() throws(HostFailure) -> clibc_addresses {
    let resolver = clibc_resolve(place.host, Int32(place.port))
    guard resolver >= 0 else { throw .connectFailed(why: systemReason(systemError)) }
    defer { close(resolver) }
    var addresses = clibc_addresses()
    var answer = clibc_resolved(resolver, &addresses)
    while answer == 0 {
      guard Clock.monotonic < limit else {
        throw .connectFailed(why: "the name was not looked up in time")
      }
      var set = PollSet(resolver)
      try wait(&set, limit)
      answer = clibc_resolved(resolver, &addresses)
    }
    guard answer > 0, addresses.status == 0, addresses.count > 0 else {
      let reason =
        answer > 0 ? String(cString: clibc_resolve_reason(&addresses)) : "cannot be looked up"
      let hint = NearestWord.hint(for: place.host, among: CompletionNames.hostNames())
      throw .connectFailed(why: reason.lowercasedFirst + hint)
    }
    return addresses
  }

  /// What became of a connection that is made: 0, or errno; nil without an answer.
  private func connected(_ socket: Int32, until: Double) throws(HostFailure) -> Int32? {
    while Clock.monotonic < until {
      var set = PollSet()
      set.add(socket, reading: false, writing: true)
      try wait(&set, until)
      if set.isWritable(socket) { return clibc_connect_result(socket) }
    }
    return nil
  }

  // MARK: - The session

  /// Calls libssh2 until that is through: its result.
  private func finish(
    _ session: SSH2Session, _ call: () -> Int32
  ) throws(HostFailure) -> Int32 {
    let wire = session.wire
    while true {
      wire.now = Clock.monotonic
      // With strangers libssh2 deals byte by byte.
      wire.budget = SSH2Wire.turnBudget / 16
      wire.flush()
      let result = call()
      guard result == LIBSSH2_ERROR_EAGAIN else { return result }
      if wire.ending != nil, wire.isDrained { throw failure(session) }
      guard Clock.monotonic < limit else { throw .connectFailed(why: "no answer in time") }
      var set = PollSet()
      wire.wants(&set)
      try wait(&set, limit)
      if set.isReadable(wire.descriptor) { wire.mayRead = true }
    }
  }

  /// Whether to go on with the host's key: nothing of signing in has been sent yet.
  private func judge(_ session: SSH2Session, _ policy: HostKeyPolicy) throws(HostFailure) {
    guard let blob = session.hostKey else {
      throw .hostKeyUnknown(why: "\(place.name): no host key")
    }
    guard try policy.judge(blob), let key = HostKey(blob: blob) else { return }
    try Failure.rethrowing(try policy.pin(key)) { HostFailure.hostKeyUnknown(why: $0.message) }
    request.tell("\(place.name): new host, pinned its \(key.kind) key \(key.fingerprint)")
  }

  /// Why the session ended before the user was signed in.
  private func failure(_ session: SSH2Session) -> HostFailure {
    let wire = session.wire
    if let theirs = KeyExchangeOffer(greeting: wire.greeting),
      let detail = session.offer.mismatch(with: theirs)
    {
      return .noCommonAlgorithm(detail: detail)
    }
    if let farewell = wire.farewell {
      // It is keys that a host has had enough of, once it was shown some.
      if !tried.isEmpty, farewell.isRefusal {
        return .authFailed(tried: tried + ["host: \(farewell.words)"])
      }
      return .connectFailed(why: farewell.words)
    }
    if let line = KeyExchangeOffer.strangeLine(wire.greeting) {
      return .connectFailed(why: "not an SSH server, it says: \(line)")
    }
    return .connectFailed(why: wire.ending ?? session.lastReason)
  }

  // MARK: - Signing in

  /// Something to sign in with: a key's file, or one of the agent's keys.
  private enum Key {
    case file(PrivateKeyFile)
    case agent(SSH2Agent, blob: [UInt8])
  }

  /// Signs in with the key of the request, then with those of the agent, if they may be used. The
  /// same key is tried once; where the agent has it, the agent signs.
  ///
  /// - Returns: with what.
  private func signIn(_ session: SSH2Session) throws(HostFailure) -> String {
    let user =
      request.destination.user ?? LinkRequest.login ?? Process.environment("LOGNAME") ?? "root"
    for (name, key) in try keys() {
      let result =
        switch key {
        case .file(let file): try signIn(session, user, file, name)
        case .agent(let agent, let blob): try signIn(session, user, agent, blob)
        }
      switch result {
      // It was not even shown.
      case nil: continue
      case 0: return name
      case let result? where Self.isFatal(result): throw failure(session)
      // What libssh2 calls a key refused may be the end of it all.
      case _ where session.wire.farewell != nil:
        tried.append(name)
        throw failure(session)
      // The host has not refused it: its answer could not be read.
      case let result? where session.wire.isDamaged || Self.hasNoAnswer(result, session):
        session.wire.spoil()
        throw failure(session)
      default: tried.append(name)
      }
    }
    return try askMethods(session, user)
  }

  /// Shows a key's file to the host.
  ///
  /// - Returns: libssh2's number; nil when it cannot be used, which is noted.
  private func signIn(
    _ session: SSH2Session, _ user: String, _ file: PrivateKeyFile, _ name: String
  ) throws(HostFailure) -> Int32? {
    var passphrase = file.isEncrypted ? PassphraseStore.passphrase(of: file.path) : nil
    var asked = 0
    while true {
      if file.isEncrypted, passphrase == nil {
        passphrase = asked < 3 ? ask(file, isAgain: asked > 0) : nil
        asked += 1
        if passphrase == nil {
          let reason = request.ask == nil ? "it has a passphrase" : "no passphrase given"
          tried.append("\(name): \(asked > 3 ? "wrong passphrase" : reason)")
          return nil
        }
      }
      var empty: [UInt8] = []
      let secret = passphrase ?? SecretBytes(&empty)
      let result = try finish(session) {
        let result = session.signIn(user, key: file.content, passphrase: secret)
        if Self.hasRead(result), let passphrase {
          PassphraseStore.keep(passphrase, for: file.path)
        }
        return result
      }
      if Self.hasRead(result) || Self.isFatal(result) || session.wire.isDamaged { return result }
      guard file.isEncrypted else {
        tried.append("\(name): \(session.lastReason)")
        return nil
      }
      PassphraseStore.forget(file.path)
      passphrase = nil
    }
  }

  private func ask(_ file: PrivateKeyFile, isAgain: Bool) -> SecretBytes? {
    let start = Clock.monotonic
    // How long a person takes is not the host's fault.
    defer { limit += Clock.monotonic - start }
    let prompt = "\(isAgain ? "Wrong. " : "")Passphrase of \(file.path): "
    guard var answer = request.ask?(prompt) else { return nil }
    return SecretBytes(&answer)
  }

  /// Has the agent sign, which may ask its owner first.
  private func signIn(
    _ session: SSH2Session, _ user: String, _ agent: SSH2Agent, _ blob: [UInt8]
  ) throws(HostFailure) -> Int32 {
    var end: HostFailure?
    let result = try finish(session) { [wait, limit] in
      session.signIn(user, blob: blob) { data in
        do throws(HostFailure) {
          let request = AgentMessage.signRequest(blob, data: data)
          let answer = try agent.ask(request, until: limit, wait)
          if answer == nil, Clock.monotonic >= limit {
            end = .connectFailed(why: "no answer in time")
          }
          return answer.flatMap(AgentMessage.signature)
        } catch {
          end = error
          return nil
        }
      }
    }
    if let end { throw end }
    return result
  }

  /// Finds what there is to sign in with.
  private func keys() throws(HostFailure) -> [(name: String, key: Key)] {
    let (agent, all) = try agentKeys()
    var keys = all
    var found: [(name: String, key: Key)] = []
    if request.identity != nil || !request.options.usesAgent {
      do throws(Failure) {
        let path =
          if let chosen = request.identity { chosen } else {
            try OwnKey.ensure(in: request.stateFolder)
          }
        let file = try PrivateKeyFile(path: path)
        let name = Self.name(path, file.publicKey)
        if let agent, let key = keys.first(where: { $0.blob == file.publicKey?.blob }) {
          keys.removeAll { $0 == key }
          found.append((name, .agent(agent, blob: key.blob)))
        } else if let type = file.publicKey?.type, !SSH2Algorithms.userKeys.contains(type) {
          tried.append("\(name): not with libssh2")
        } else {
          found.append((name, .file(file)))
        }
      } catch {
        guard request.options.usesAgent, !keys.isEmpty else {
          throw error.status == .denied
            ? .authFailed(tried: [error.message]) : .local(why: error.message)
        }
        if let place = place(in: keys) {
          keys.insert(keys.remove(at: place), at: 0)
        } else {
          request.note(error.message)
        }
      }
    }
    for key in keys {
      let known = HostKey(blob: key.blob)
      guard let agent, let known, SSH2Algorithms.userKeys.contains(known.type) else { continue }
      let name = Self.name(key.comment.isEmpty ? "key" : key.comment, known) + " of the agent"
      found.append((name, .agent(agent, blob: key.blob)))
    }
    return found
  }

  /// The agent, if it is to be used and answers, and its keys.
  private func agentKeys() throws(HostFailure) -> (SSH2Agent?, [AgentMessage.Key]) {
    guard request.options.usesAgent else { return (nil, []) }
    guard let path = Process.environment("SSH_AUTH_SOCK"), let agent = SSH2Agent(path: path) else {
      tried.append("ssh-agent: none there")
      return (nil, [])
    }
    let limit = min(limit, Clock.monotonic + 2)
    guard let answer = try agent.ask(AgentMessage.listRequest, until: limit, wait) else {
      tried.append("ssh-agent: no answer")
      return (nil, [])
    }
    let keys = AgentMessage.keys(answer) ?? []
    if keys.isEmpty { tried.append("ssh-agent: no keys") }
    return (agent, keys)
  }

  /// As with OpenSSH, the named key is tried before the host has had enough of them.
  private func place(in keys: [AgentMessage.Key]) -> Int? {
    guard let path = request.identity, path.hasSuffix(".pub"),
      let line = try? OwnKey.publicLine(of: path)
    else { return nil }
    return keys.firstIndex { HostKey(blob: $0.blob).map { line.hasPrefix($0.text) } == true }
  }

  /// Asks what the host would take, which also lets in where no key is needed.
  private func askMethods(_ session: SSH2Session, _ user: String) throws(HostFailure) -> String {
    var ways: String?
    _ = try finish(session) {
      ways = session.ways(of: user)
      return ways == nil && !session.isSignedIn && !session.wire.isDamaged
        ? session.lastError : 0
    }
    if session.wire.isDamaged { throw failure(session) }
    if ways == nil, session.isSignedIn { return "nothing" }
    // Without its answer it has not refused anything.
    guard let ways else { throw failure(session) }
    request.note("the host takes: \(ways)")
    throw .authFailed(tried: tried)
  }

  private static func name(_ what: String, _ key: HostKey?) -> String {
    key.map { "\(what) (\($0.kind) \($0.fingerprint))" } ?? what
  }

  /// Whether a key could be read, whatever the host says of it.
  private static func hasRead(_ result: Int32) -> Bool {
    [
      0, LIBSSH2_ERROR_EAGAIN, LIBSSH2_ERROR_AUTHENTICATION_FAILED,
      LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED,
    ].contains(result)
  }

  /// Whether libssh2 got no answer, for which it has the number of a key refused.
  private static func hasNoAnswer(_ result: Int32, _ session: SSH2Session) -> Bool {
    result == LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED && session.lastReason.hasPrefix("waiting for ")
  }

  private static func isFatal(_ result: Int32) -> Bool {
    [
      LIBSSH2_ERROR_SOCKET_SEND, LIBSSH2_ERROR_SOCKET_RECV,
      LIBSSH2_ERROR_SOCKET_DISCONNECT, LIBSSH2_ERROR_SOCKET_TIMEOUT, LIBSSH2_ERROR_TIMEOUT,
      LIBSSH2_ERROR_INVALID_MAC, LIBSSH2_ERROR_PROTO, LIBSSH2_ERROR_KEY_EXCHANGE_FAILURE,
      LIBSSH2_ERROR_OUT_OF_BOUNDARY, LIBSSH2_ERROR_BAD_USE,
    ].contains(result)
  }
}
