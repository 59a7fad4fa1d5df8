import CLibc
import Core
import Records

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
