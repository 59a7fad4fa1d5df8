import CLibc
import Core
import Records
import Web

/// The tokens that a gateway gave this device, each with what it allows: they let in where
/// the profile has no token, and go to no other gateway.
struct DeviceTokens {
  struct Entry {
    var token: Secret
    var scopes: [String]
  }

  private let file: StateFile
  private let origin: String
  private(set) var entries: [Entry] = []

  /// The most that are kept for a gateway: one for each set of scopes that is in use.
  private static let most = 8

  init(origin: String, in folders: Folders) throws(Failure) {
    let folder = DeviceIdentity.folder(in: folders)
    try Folders.make(folder)
    let name = origin.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") ? $0 : "-" }
    let path = Folders.join(folder, "tokens-" + String(name) + ".json")
    file = StateFile(path: path)
    self.origin = origin
    guard let bytes = try file.read(), !bytes.isEmpty else { return }
    if let status = stat(following: path), status.st_mode & 0o077 != 0 {
      throw Failure(path, "refused: not for its owner alone (chmod 600)", .denied)
    }
    guard let value = try? JSONValue.parse(bytes), value["origin"]?.string == origin else {
      throw Failure(path, "does not hold the tokens of \(origin): remove it")
    }
    for each in value["tokens"]?.elements ?? [] {
      guard let token = each["token"]?.string else { continue }
      entries.append(
        Entry(
          token: Secret(token, source: path),
          scopes: each["scopes"]?.elements.compactMap(\.string) ?? []))
    }
  }

  /// The token that allows what is wanted and little more; without one such, the newest.
  func best(for scopes: [GatewayScope]) -> Entry? {
    let wanted = Set(scopes.map(\.rawValue))
    let fitting = entries.filter { wanted.isSubset(of: $0.scopes) }
    return fitting.min { $0.scopes.count < $1.scopes.count } ?? entries.last
  }

  /// Whether a gateway has granted this before.
  func allows(_ scope: GatewayScope) -> Bool {
    entries.contains { $0.scopes.contains(scope.rawValue) }
  }

  mutating func keep(_ token: Secret, scopes: [String]) throws(Failure) {
    if entries.contains(where: { $0.token.reveal() == token.reveal() && $0.scopes == scopes }) {
      return
    }
    entries.removeAll { Set($0.scopes) == Set(scopes) }
    entries.append(Entry(token: token, scopes: scopes))
    entries = entries.suffix(Self.most)
    try save()
  }

  mutating func forget(_ token: Secret) throws(Failure) {
    entries.removeAll { $0.token.reveal() == token.reveal() }
    try save()
  }

  private func save() throws(Failure) {
    let rows = entries.map { entry in
      let scopes = entry.scopes.map(JSONQuote.string).joined(separator: ",")
      return RecordText().string("token", entry.token.reveal()).json("scopes", "[\(scopes)]").text
    }
    let text = RecordText().string("origin", origin).json(
      "tokens", "[\(rows.joined(separator: ","))]")
    try file.replace(with: text.line)
  }
}

struct GatewayKeys {
  let server: AgentServer
  let identity: DeviceIdentity
  let tokens: DeviceTokens

  init(_ agent: AgentAccess, folders: Folders = Folders()) throws(Failure) {
    server = agent.backend
    guard agent.profile.isSocket else {
      throw Failure(server.base.display, "the url of a gateway begins with ws:// or wss://")
    }
    try server.requirePrivacy()
    identity = try DeviceIdentity.own(in: folders)
    tokens = try DeviceTokens(origin: server.originText, in: folders)
  }
}
