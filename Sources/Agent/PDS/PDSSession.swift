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

  /// - Parameters: as the members.
  init(_ server: PDSServer, _ line: XRPCLine, _ limits: PDSLimits, _ diagnostics: Diagnostics) {
    self.server = server
    self.line = line
    self.limits = limits
    self.diagnostics = diagnostics
  }

  /// Calls with the access token, and once more with a new one where that is not taken.
  ///
  /// - Parameter request: makes it of the tokens.
  /// - Throws: `CallFailure`, `denied` when nothing lets us in.
  func call(
    _ request: (PDSTokens) throws(SettingsError) -> Request
  ) throws(CallFailure) -> XRPCLine.Reply {
    let tokens = try current()
    let reply = try line.call(try made(request, tokens))
    guard case .refused(let error) = reply, error.isTokenRefused else { return reply }
    diagnostics.note("\(server.base.display): \(error.line)")
    let next = try renewed(after: tokens, canRefresh: error.name == "ExpiredToken")
    return try line.call(try made(request, next))
  }

  private func made(
    _ request: (PDSTokens) throws(SettingsError) -> Request, _ tokens: PDSTokens
  ) throws(CallFailure) -> Request {
    do throws(SettingsError) {
      try server.requirePrivacy("the token")
      return try request(tokens)
    } catch {
      throw CallFailure(error)
    }
  }

  /// The account.
  ///
  /// - Throws: `CallFailure`.
  func account() throws(CallFailure) -> DID { try current().did }

  // MARK: - Tokens

  private func current() throws(CallFailure) -> PDSTokens {
    if let tokens { return tokens }
    let file = try opened()
    if let found = try settings({ () throws(SettingsError) in try file.read() }) {
      tokens = found
      return found
    }
    return try file.alone(patience: limits.timeout) { () throws(CallFailure) in
      let found = try settings { () throws(SettingsError) in try file.read() }
      if let found { return try keep(found, file, isNew: false) }
      return try keep(try logIn(), file, isNew: true)
    }
  }

  /// - Parameters:
  ///   - old: what is not taken any more.
  ///   - canRefresh: whether its refresh token is still good, for all one knows.
  private func renewed(
    after old: PDSTokens, canRefresh: Bool
  ) throws(CallFailure) -> PDSTokens {
    let file = try opened()
    return try file.alone(patience: limits.timeout) { () throws(CallFailure) in
      if let found = try settings({ () throws(SettingsError) in try file.read() }),
        found.access.reveal() != old.access.reveal()
      {
        return try keep(found, file, isNew: false)
      }
      if canRefresh, let next = try refresh(old) { return try keep(next, file, isNew: true) }
      return try keep(try logIn(), file, isNew: true)
    }
  }

  /// New tokens are on disk before they are used: the old ones may be good for nothing by then.
  private func keep(
    _ found: PDSTokens, _ file: PDSTokenFile, isNew: Bool
  ) throws(CallFailure) -> PDSTokens {
    if isNew { try settings { () throws(SettingsError) in try file.keep(found) } }
    tokens = found
    return found
  }

  private func opened() throws(CallFailure) -> PDSTokenFile {
    if let file { return file }
    guard let identifier = server.identifier else {
      throw CallFailure(
        server.profile.name.map { "profile \($0)" } ?? server.base.display,
        "no identifier to log in with; see agentutils.conf(5)", .failure)
    }
    let opened = try settings { () throws(SettingsError) in
      try PDSTokenFile(server, identifier.description, in: Folders())
    }
    file = opened
    return opened
  }

  private func settings<Result>(
    _ body: () throws(SettingsError) -> Result
  ) throws(CallFailure) -> Result {
    do throws(SettingsError) { return try body() } catch { throw CallFailure(error) }
  }

  // MARK: - Calls

  /// - Returns: nil when the refresh token is not taken.
  private func refresh(_ old: PDSTokens) throws(CallFailure) -> PDSTokens? {
    let request = try settings { () throws(SettingsError) in
      try server.request("com.atproto.server.refreshSession", body: [], token: old.refresh)
    }
    switch try line.call(request) {
    case .answer(let head, let body): return try read(body, head, request.address.display)
    case .refused(let error):
      diagnostics.note("\(request.address.display): \(error.line)")
      return nil
    }
  }

  private func logIn() throws(CallFailure) -> PDSTokens {
    let password = try settings { () throws(SettingsError) in try server.password() }
    let name = try loginName()
    let text = RecordText().string("identifier", name).string("password", password.reveal())
    let request = try settings { () throws(SettingsError) in
      try server.request(
        "com.atproto.server.createSession", body: text.bytes, secrets: [password])
    }
    let place = request.address.display
    switch try line.call(request) {
    case .answer(let head, let body): return try read(body, head, place)
    case .refused(let error):
      let isDenied = error.status == 401 || error.status == 403 || error.name.hasPrefix("Auth")
      let words = "the password from \(password.source) was refused for \(name)"
      throw CallFailure(
        place, isDenied ? "\(error.line): \(words)" : error.line,
        isDenied ? .denied : error.exit)
    }
  }

  /// Not every server takes a DID: a handle is asked for where the server tells it.
  private func loginName() throws(CallFailure) -> String {
    guard let identifier = server.identifier else { return "" }
    guard let did = identifier.did else { return identifier.description }
    let request = try settings { () throws(SettingsError) in
      try server.request(
        "com.atproto.repo.describeRepo", query: [("repo", did.description)])
    }
    guard case .answer(_, let body) = try line.call(request),
      let json = try? body.withUnsafeBytes({ try JSONValue.parse($0) }),
      let handle = json["handle"]?.string.flatMap({ Handle($0) })
    else { return did.description }
    return handle.description
  }

  private func read(
    _ body: [UInt8], _ head: ResponseHead, _ place: String
  ) throws(CallFailure) -> PDSTokens {
    let json = try? body.withUnsafeBytes { try JSONValue.parse($0) }
    guard let tokens = PDSTokens(json, source: place) else {
      throw CallFailure(place, "\(head.summary): no session in the answer", .failure)
    }
    return tokens
  }
}
