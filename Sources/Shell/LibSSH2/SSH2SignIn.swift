import CSSH2
import Core

/// Signs in: with the key of the request, then with those of the agent, if they may be
/// used. The same key is tried once; where the agent has it, the agent signs.
final class SSH2SignIn {
  /// How far it is.
  enum Progress {
    case waiting
    /// With what.
    case done(String)
    case failed(HostFailure)
    /// The session is broken; libssh2 knows why.
    case broken
  }

  private enum Candidate {
    case file(PrivateKeyFile)
    case agent(SSH2Signer)
  }

  private let session: SSH2Session
  private let request: LinkRequest
  private let user: String
  private var agent: SSH2Agent?
  /// When the agent must have told its keys.
  private var agentLimit: Double
  private var file: PrivateKeyFile?
  private var candidates: [(name: String, key: Candidate)]?
  private var index = 0
  private var passphrase: SecretBytes?
  private let nothing: SecretBytes = {
    var empty: [UInt8] = []
    return SecretBytes(&empty)
  }()
  private var asked = 0
  /// What the host did not take, in order.
  private(set) var tried: [String] = []
  /// How long the user was asked for, seconds: not the host's fault.
  private(set) var secondsAsked = 0.0

  init(session: SSH2Session, request: LinkRequest, user: String, now: Double) {
    self.session = session
    self.request = request
    self.user = user
    agentLimit = now + 2
    guard request.options.usesAgent else { return }
    agent = Process.environment("SSH_AUTH_SOCK").flatMap(SSH2Agent.init(path:))
    agent?.ask(AgentMessage.listRequest)
    if agent == nil { tried.append("ssh-agent: none there") }
  }

  /// The time at which `advance` is to be called at the latest.
  var deadline: Double? { agent != nil && candidates == nil ? agentLimit : nil }

  /// Adds the descriptors that it waits for, besides the session's.
  func wants(_ set: inout PollSet) { agent?.wants(&set) }

  /// Goes on as far as it can; blocks only to ask the user.
  func advance(now: Double) -> Progress {
    if candidates == nil, let failure = gather(now) { return .failed(failure) }
    guard let candidates else { return .waiting }
    while index < candidates.count {
      let (name, key) = candidates[index]
      let result: Int32
      switch key {
      case .agent(let signer): result = signer.advance(session, user: user)
      case .file(let file):
        guard let answer = signIn(with: file, name) else { continue }
        result = answer
      }
      switch result {
      case 0: return .done(name)
      case LIBSSH2_ERROR_EAGAIN: return .waiting
      case _ where Self.isFatal(result): return .broken
      // What libssh2 calls a key refused may be the end of it all.
      case _ where session.wire.farewell != nil:
        tried.append(name)
        return .broken
      // The host has not refused it: its answer could not be read.
      case _ where session.wire.isDamaged || hasNoAnswer(result):
        session.wire.spoil()
        return .broken
      default: skip(name)
      }
    }
    return askMethods()
  }

  /// Whether libssh2 got no answer, for which it has the number of a key refused.
  private func hasNoAnswer(_ result: Int32) -> Bool {
    result == LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED && session.lastReason.hasPrefix("waiting for ")
  }

  private func skip(_ what: String) {
    tried.append(what)
    index += 1
    passphrase = nil
    asked = 0
  }

  /// One try with a key's file: libssh2's number; nil when the candidate was dropped, or
  /// is to be tried again.
  private func signIn(with file: PrivateKeyFile, _ name: String) -> Int32? {
    if file.isEncrypted, passphrase == nil {
      passphrase = PassphraseStore.passphrase(of: file.path)
      if passphrase == nil {
        guard let given = ask(file) else {
          let reason = request.ask == nil ? "it has a passphrase" : "no passphrase given"
          skip("\(name): \(reason)")
          return nil
        }
        passphrase = given
      }
    }
    let result = session.signIn(user, key: file.content, passphrase: passphrase ?? nothing)
    switch result {
    case LIBSSH2_ERROR_EAGAIN, 0, LIBSSH2_ERROR_AUTHENTICATION_FAILED,
      LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED:
      // The key could be read.
      if let passphrase { PassphraseStore.keep(passphrase, for: file.path) }
      return result
    case _ where Self.isFatal(result) || session.wire.isDamaged: return result
    case _ where file.isEncrypted:
      PassphraseStore.forget(file.path)
      passphrase = nil
      if asked >= 3 { skip("\(name): wrong passphrase") }
    default: skip("\(name): \(session.lastReason)")
    }
    return nil
  }

  private func ask(_ file: PrivateKeyFile) -> SecretBytes? {
    guard asked < 3, let ask = request.ask else { return nil }
    let start = Clock.monotonic
    let again = asked > 0 ? "Wrong. " : ""
    asked += 1
    defer { secondsAsked += Clock.monotonic - start }
    guard var answer = ask("\(again)Passphrase of \(file.path): ") else { return nil }
    return SecretBytes(&answer)
  }

  /// Finds what there is to sign in with: why there is nothing to go on with, if so.
  private func gather(_ now: Double) -> HostFailure? {
    var keys: [AgentMessage.Key] = []
    if let agent {
      switch agent.advance() {
      case .waiting:
        guard now >= agentLimit else { return nil }
        self.agent = nil
        tried.append("ssh-agent: no answer")
      case .failed:
        self.agent = nil
        tried.append("ssh-agent: no answer")
      case .bytes(let answer):
        keys = AgentMessage.keys(answer) ?? []
        if keys.isEmpty { tried.append("ssh-agent: no keys") }
      }
    }
    var found: [(name: String, key: Candidate)] = []
    if request.identity != nil || !request.options.usesAgent {
      do throws(SettingsError) {
        let path =
          if let chosen = request.identity { chosen } else {
            try OwnKey.ensure(in: request.stateFolder)
          }
        let file = try PrivateKeyFile(path: path)
        let type = file.publicKey?.type
        let name = Self.name(path, file.publicKey)
        if let agent, let key = keys.first(where: { $0.blob == file.publicKey?.blob }) {
          keys.removeAll { $0 == key }
          found.append((name, .agent(SSH2Signer(agent: agent, blob: key.blob))))
        } else if let type, !SSH2Algorithms.userKeys.contains(type) {
          tried.append("\(name): not with libssh2")
        } else {
          found.append((name, .file(file)))
        }
      } catch {
        guard request.options.usesAgent, !keys.isEmpty else {
          return error.status == .denied
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
      found.append((name, .agent(SSH2Signer(agent: agent, blob: key.blob))))
    }
    candidates = found
    return nil
  }

  /// Which of the agent's keys a public key's file names: as with OpenSSH, that one is
  /// tried before the host has had enough of them.
  private func place(in keys: [AgentMessage.Key]) -> Int? {
    guard let path = request.identity, path.hasSuffix(".pub"),
      let line = try? OwnKey.publicLine(of: path)
    else { return nil }
    return keys.firstIndex { HostKey(blob: $0.blob).map { line.hasPrefix($0.text) } == true }
  }

  /// Asks what the host would take, which also lets in where no key is needed.
  private func askMethods() -> Progress {
    let ways = session.ways(of: user)
    if session.wire.isDamaged { return .broken }
    if ways == nil, session.isSignedIn { return .done("nothing") }
    if ways == nil, session.lastError == LIBSSH2_ERROR_EAGAIN { return .waiting }
    // Without its answer it has not refused anything.
    guard let ways else { return .broken }
    request.note("the host takes: \(ways)")
    return .failed(.authFailed(tried: tried))
  }

  private static func name(_ what: String, _ key: HostKey?) -> String {
    key.map { "\(what) (\($0.kind) \($0.fingerprint))" } ?? what
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
