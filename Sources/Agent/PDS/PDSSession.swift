import CLibc
import Core
import Records
import Web

/// The session of an account: logs in when it must, and renews its tokens. Of several processes
/// one does it, and the others take what it got (Agent/PDS/CONTRACT.md 3).
final class PDSSession {
  private let server: PDSServer
  private let line: XRPCLine
  private let limits: PDSLimits
  private let diagnostics: Diagnostics
  private var file: PDSTokenFile?
  private var tokens: PDSTokens?
  /// Whether the server has taken the tokens, or made them in this run.
  private var isProven = false

  init(_ server: PDSServer, _ line: XRPCLine, _ limits: PDSLimits, _ diagnostics: Diagnostics) {
    (self.server, self.line, self.limits, self.diagnostics) = (server, line, limits, diagnostics)
  }

  /// Calls with the access token, and once more with a new one where that is not taken. `isProbe`: a
  /// fault of the server is an answer, too.
  func call(
    isProbe: Bool = false, _ request: (PDSTokens) throws(Failure) -> Request
  ) throws(Failure) -> XRPCLine.Reply {
    var tokens = try account()
    // There are servers that answer 500 to a token which they cannot read.
    let mostFaults = isProbe ? 1 : isProven ? .max : limits.maxRetries > 0 ? 2 : 1
    var reply = try line.call(try made(request, tokens), mostFaults: mostFaults)
    if !isProbe, case .failure(let error) = reply, error.isTransient {
      diagnostics.note("\(server.base.display): \(error.line)")
      tokens = try replaced(tokens)
      isProven = true
      reply = try line.call(try made(request, tokens))
    }
    // What another process got may be worn out by now, too.
    for _ in 0..<3 {
      guard case .failure(let error) = reply, error.isTokenRefused else { break }
      diagnostics.note("\(server.base.display): \(error.line)")
      let isNew: Bool
      (tokens, isNew) = try renewed(after: tokens, canRefresh: error.name == "ExpiredToken")
      reply = try line.call(try made(request, tokens), mostFaults: isProbe ? 1 : .max)
      if isNew { break }
    }
    isProven = true
    return reply
  }

  /// Other tokens for some that are perhaps the reason of a fault: those, if there are no others.
  private func replaced(_ old: PDSTokens) throws(Failure) -> PDSTokens {
    var isRefused = false
    func make() throws(Failure) -> PDSTokens {
      do throws(Failure) { return try logIn(mostFaults: 1) } catch {
        isRefused = true
        throw error
      }
    }
    do throws(Failure) {
      return try settled({ $0.access.reveal() != old.access.reveal() }, make()).tokens
    } catch {
      guard isRefused else { throw error }
      diagnostics.note(error.message)
      return old
    }
  }

  private func made(
    _ request: (PDSTokens) throws(Failure) -> Request, _ tokens: PDSTokens
  ) throws(Failure) -> Request {
    try server.requirePrivacy("the token")
    return try request(tokens)
  }

  func logInAnew() throws(Failure) -> PDSTokens {
    try settled(nil, logIn(isAsked: true)).tokens
  }

  /// The account, when somebody logged in before; nobody is asked.
  func known() -> PDSTokens? { tokens ?? ((try? opened().read()) ?? nil) }

  // MARK: - Tokens

  func account() throws(Failure) -> PDSTokens {
    if tokens == nil { tokens = try opened().read() }
    if let tokens { return tokens }
    return try settled({ _ in true }, logIn()).tokens
  }

  /// Tokens in place of `old`; `canRefresh`: its refresh token is still good, for all one knows.
  func renewed(
    after old: PDSTokens, canRefresh: Bool
  ) throws(Failure) -> (tokens: PDSTokens, isNew: Bool) {
    func make() throws(Failure) -> PDSTokens {
      if canRefresh, let next = try refresh(old) { return next }
      return try logIn()
    }
    return try settled({ $0.access.reveal() != old.access.reveal() }, make())
  }

  /// The tokens that another process has got, if they are good (nil: none are), or those that are
  /// made now, while nobody else makes any. They are on disk before they are used: the old ones may
  /// be good for nothing by then.
  private func settled(
    _ isGood: ((PDSTokens) -> Bool)?, _ made: @autoclosure () throws(Failure) -> PDSTokens
  ) throws(Failure) -> (tokens: PDSTokens, isNew: Bool) {
    let file = try opened()
    return try file.alone(patience: limits.timeout) { () throws(Failure) in
      if let isGood, let found = try file.read(), isGood(found) {
        tokens = found
        return (found, false)
      }
      let made = try made()
      try file.keep(made)
      (tokens, isProven) = (made, true)
      return (made, true)
    }
  }

  private func opened() throws(Failure) -> PDSTokenFile {
    if let file { return file }
    guard let identifier = server.identifier else {
      throw Failure(
        server.profile.name.map { "profile \($0)" } ?? server.base.display,
        "no identifier to log in with; see agentutils.conf(5)", .failure)
    }
    let opened = try PDSTokenFile(server, identifier.description, in: Folders())
    file = opened
    return opened
  }

  // MARK: - Calls

  /// Nil when the refresh token is not taken.
  private func refresh(_ old: PDSTokens) throws(Failure) -> PDSTokens? {
    let request = try server.request(
      "com.atproto.server.refreshSession", body: [], token: old.refresh)
    switch try line.call(request) {
    case .success(let (head, body)):
      return try read(body, head, request.address.display, of: old.did)
    case .failure(let error):
      diagnostics.note("\(request.address.display): \(error.line)")
      return nil
    }
  }

  /// `isAsked`: a person asked; nobody else has a server mail two-factor codes again and again.
  private func logIn(mostFaults: Int = .max, isAsked: Bool = false) throws(Failure) -> PDSTokens {
    let password = try server.password()
    let file = try opened()
    if !isAsked, file.wantsCode(with: password) {
      throw Failure(server.base.display, "\(Self.advice) (no log-in was tried)", .denied)
    }
    var names = try loginNames(file)
    while true {
      let name = names.removeFirst()
      let text = RecordText().string("identifier", name).string("password", password.reveal())
      let request = try server.request(
        "com.atproto.server.createSession", body: text.bytes, secrets: [password])
      let place = request.address.display
      let reply = try line.call(request, mostFaults: mostFaults)
      if case .failure(let error) = reply, !names.isEmpty, error.mayKnowOtherName {
        diagnostics.note("\(place): \(error.line)")
        continue
      }
      return try tokens(of: reply, password, name, place, file)
    }
  }

  private func tokens(
    of reply: XRPCLine.Reply, _ password: Secret, _ name: String, _ place: String,
    _ file: PDSTokenFile
  ) throws(Failure) -> PDSTokens {
    switch reply {
    case .success(let (head, body)):
      var tokens = try read(body, head, place, of: server.identifier?.did)
      tokens.password = password
      file.forgetCode()
      return tokens
    case .failure(let error) where error.name == "AuthFactorTokenRequired":
      try file.keepCode(with: password)
      throw Failure(place, "\(error.line): \(Self.advice)", .denied)
    case .failure(let error) where error.isAboutAccount:
      throw Failure(place, error.line, .denied)
    case .failure(let error):
      let isDenied = error.status == 401 || error.status == 403 || error.name.hasPrefix("Auth")
      let words = "the password from \(password.source) was refused for \(name)"
      throw Failure(
        place, isDenied ? "\(error.line): \(words)" : error.line,
        isDenied ? .denied : error.exit)
    }
  }

  private static let advice =
    "the account wants a code from its mail, too; give an app password"

  /// What to log in with, the best first. A handle may change; the DID of the first log-in does
  /// not. But not every server takes a DID, so that its handle of now is asked for.
  private func loginNames(_ file: PDSTokenFile) throws(Failure) -> [String] {
    guard let identifier = server.identifier else { return [""] }
    let kept = (try? file.read()) ?? nil
    guard let did = identifier.did ?? kept?.did else { return [identifier.description] }
    let others = identifier.did == nil ? [identifier.description] : []
    let request = try server.request(
      "com.atproto.repo.describeRepo", query: [("repo", did.description)])
    guard case .success(let (_, body)) = try line.call(request),
      let handle = JSONValue(body)?["handle"]?.string.flatMap({ Handle($0) })
    else { return [did.description] + others }
    return [handle.description]
  }

  private func read(
    _ body: [UInt8], _ head: ResponseHead, _ place: String, of did: DID?
  ) throws(Failure) -> PDSTokens {
    guard let tokens = PDSTokens(JSONValue(body), source: place) else {
      throw Failure(place, "\(head.summary): no session in the answer", .failure)
    }
    if let did, tokens.did != did {
      throw Failure(place, "a session of \(tokens.did), not of \(did)", .denied)
    }
    return tokens
  }
}

struct PDSTokens {
  let did: DID
  let handle: Handle?
  /// For calls, an hour or two.
  let access: Secret
  /// For a new pair, once.
  let refresh: Secret
  /// The password that they were got for, if that was just now.
  var password: Secret?
  /// What no message about a call may quote beside its own token.
  var others: [Secret] { [refresh] + (password.map { [$0] } ?? []) }

  /// Nil when something is missing.
  init?(_ json: JSONValue?, source: String) {
    guard let json, let did = json["did"]?.string.flatMap({ DID($0) }),
      let access = json["accessJwt"]?.string, let refresh = json["refreshJwt"]?.string,
      !access.isEmpty, !refresh.isEmpty,
      (access + refresh).utf8.allSatisfy({ $0 > 32 && $0 < 127 })
    else { return nil }
    self.did = did
    // This is what servers call a handle that does not lead back to the account.
    handle = json["handle"]?.string.flatMap {
      $0.lowercased() == "handle.invalid" ? nil : Handle($0)
    }
    self.access = Secret(access, source: source)
    self.refresh = Secret(refresh, source: source)
  }

  /// Whether a repository is the account's, by either of its names.
  func isOf(_ repository: Repository) -> Bool {
    repository.did == did || handle.map { Repository($0.description) == repository } == true
  }
}

/// Tokens on disk for other processes: for the owner alone, bound to server and account.
struct PDSTokenFile {
  private let file: StateFile
  private let origin: String
  private let identifier: String

  init(_ server: PDSServer, _ identifier: String, in folders: Folders) throws(Failure) {
    let folder = Folders.join(folders.state, "pds")
    try Folders.make(folder)
    origin = server.base.originText
    self.identifier = identifier
    let name = StateFile.name(of: "\(origin)-\(identifier)").suffix(200)
    file = StateFile(path: Folders.join(folder, name + ".json"))
  }

  func read() throws(Failure) -> PDSTokens? {
    let json = try file.readSecrets().flatMap { JSONValue($0) }
    guard json?["origin"]?.string == origin, json?["identifier"]?.string == identifier,
      let tokens = PDSTokens(json, source: file.path), tokens.did == DID(identifier) ?? tokens.did
    else { return nil }
    return tokens
  }

  /// Keeps a pair; it is on disk when this returns.
  func keep(_ tokens: PDSTokens) throws(Failure) {
    let record = RecordText().string("origin", origin).string("identifier", identifier)
      .string("did", tokens.did.description).string("handle", tokens.handle?.description)
      .string("accessJwt", tokens.access.reveal()).string("refreshJwt", tokens.refresh.reveal())
    try file.replace(with: record.line)
  }

  // MARK: - Two factors

  /// Where it is kept that the server mailed a code instead of letting a password in.
  private var code: StateFile { StateFile(path: file.path + ".code") }

  /// Whether it did so for this password when it was tried last.
  func wantsCode(with password: Secret) -> Bool {
    guard let bytes = try? code.read(), bytes.count == Self.salt + Self.check else { return false }
    let salt = bytes.prefix(Self.salt)
    return Self.digest(of: password, Array(salt)) == Array(bytes.dropFirst(Self.salt))
  }

  /// Remembers that it did. Of the password two bytes of a salted digest are kept: enough to see
  /// that it was changed, and too little to find it by.
  func keepCode(with password: Secret) throws(Failure) {
    let salt = (0..<Self.salt).map { _ in UInt8.random(in: 0...255) }
    try code.replace(with: salt + Self.digest(of: password, salt))
  }

  func forgetCode() { unlink(code.path) }

  private static let (salt, check) = (16, 2)

  private static func digest(of password: Secret, _ salt: [UInt8]) -> [UInt8] {
    Array(sha256(salt + password.reveal().utf8).prefix(check))
  }

  /// Does something while no other process does; waits for others so many seconds.
  func alone<Result>(
    patience: Double, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try FileLock.hold(beside: file.path, seconds: patience, busy: .temporary, body)
  }
}

/// As nobody, until the server wants a login; then as the profile's identifier.
final class PDSVisit {
  var base: WebAddress { server.base }
  private let server: PDSServer
  private let session: PDSSession
  private var tokens: PDSTokens?
  /// How often in a row a token was refused, and whether the last was made just now.
  private var refusals = 0
  private var isNew = false

  /// The most tokens that are tried one after the other: those of other processes wear out, too.
  private static let mostRefusals = 3

  init(_ access: PDSAccess, _ diagnostics: Diagnostics) {
    server = access.server
    // Nothing else is done meanwhile. What did not work is tried again as a lost link is.
    let limits = PDSLimits(timeout: 10, maxRetries: 0)
    // The other transfers of a client must not go on from within a stream's tick.
    let client = WebClient(
      agent: access.client.agent, connectTimeout: limits.timeout,
      authorities: access.client.authorities)
    session = PDSSession(
      server, XRPCLine(client ?? access.client, limits, diagnostics), limits, diagnostics)
  }

  func request(
    _ method: String, _ query: [(name: String, value: String?)] = []
  ) throws(LinkEnd) -> Request {
    try LinkEnd.ifFailed(
      server.request(
        method, query: query, token: tokens?.access, secrets: tokens?.others ?? []))
  }

  /// Asks, and logs in where that is wanted; `limit`: the largest answer, bytes.
  func ask(
    _ follow: Follow, _ method: String, _ query: [(name: String, value: String?)], limit: Int
  ) throws(LinkEnd) -> XRPCLine.Reply {
    let silence = min(follow.policy.idleTimeout ?? .infinity, 30)
    while true {
      let (head, body) = try follow.answer(
        try request(method, query), silence: silence, limit: limit)
      let isPage = XRPCError.isPage(head, body)
      if (200...299).contains(head.status), !isPage { return .success((head, body)) }
      let error = XRPCError(head, body, now: Clock.unix)
      guard canEnter(error) else { return .failure(error) }
      try enter(error)
    }
  }

  func canEnter(_ error: XRPCError) -> Bool {
    if error.name.isEmpty { return false }
    return tokens == nil ? error.isLoginWanted && server.identifier != nil : error.isTokenRefused
  }

  /// Gets tokens, or others than those refused; `lost` where a later try may do.
  func enter(_ error: XRPCError) throws(LinkEnd) {
    if isNew || refusals >= Self.mostRefusals {
      throw .failed(Failure(error.line, .denied), at: base.display)
    }
    do throws(Failure) {
      try server.requirePrivacy("the token")
      if let old = tokens {
        let canRefresh = error.name == "ExpiredToken"
        (tokens, isNew) = try session.renewed(after: old, canRefresh: canRefresh)
      } else {
        tokens = try session.account()
      }
      refusals += 1
    } catch {
      throw error.mayPass ? .lost(error.message) : .failed(error, at: base.display)
    }
  }

  func succeeded() { (isNew, refusals) = (false, 0) }
}
