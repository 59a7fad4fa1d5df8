public import Core
import Records
import Web

/// What a record must be for a write to take effect.
public enum RecordSwap: Equatable, Sendable {
  /// Anything, or not there.
  case any
  /// Not there.
  case absent
  /// The one of this CID.
  case cid(CID)
}

/// What came of a write.
public enum WriteOutcome {
  /// Done; what the server says of it, one JSON object.
  case done([UInt8])
  /// Nothing was written, because something else is there.
  case conflict(String)
  /// The server does not want it.
  case refused(String, ExitStatus)
}

/// The records of a repository on a personal data server.
public final class PDSRecords {
  private let server: PDSServer
  private let line: XRPCLine
  private let session: PDSSession
  private let given: Repository?

  /// - Parameters:
  ///   - access: the server.
  ///   - repository: whose records; nil for those of the profile's identifier.
  ///   - limits: how long each call may take.
  ///   - diagnostics: for notes.
  public init(
    _ access: PDSAccess, repository: Repository?, _ limits: PDSLimits, _ diagnostics: Diagnostics
  ) {
    server = access.server
    given = repository
    line = XRPCLine(access.client, limits, diagnostics)
    session = PDSSession(server, line, limits, diagnostics)
  }

  /// Whose records are read.
  ///
  /// - Throws: `CallFailure` when nobody is named.
  public func repository() throws(CallFailure) -> Repository {
    if let known = given ?? server.identifier { return known }
    throw CallFailure(
      server.base.display, "whose records? set identifier in the profile, or give --repo", .failure)
  }

  /// Who writes, and where: what the keys of records belong to.
  public var account: String { "\(server.originText) \(server.identifier?.description ?? "")" }

  /// Makes sure that a record is one of the account's own, which alone can be written.
  ///
  /// - Parameter repository: of the record; nil where nothing is said.
  /// - Throws: `CallFailure` where nobody lets us in.
  public func owns(_ repository: Repository?) throws(CallFailure) -> Bool {
    guard let repository, repository != server.identifier else { return true }
    return repository.did == (try session.account())
  }

  // MARK: - Reading

  /// What a repository holds.
  ///
  /// - Returns: the server's answer; nil when there is no such repository.
  /// - Throws: `CallFailure`.
  public func describe() throws(CallFailure) -> [UInt8]? {
    try object("com.atproto.repo.describeRepo", [("repo", try repository().description)])
  }

  /// One record.
  ///
  /// - Returns: the row; nil when there is none.
  /// - Throws: `CallFailure`.
  public func get(_ uri: ATURI) throws(CallFailure) -> [UInt8]? {
    try object(
      "com.atproto.repo.getRecord",
      [
        ("repo", uri.repository.description), ("collection", uri.collection?.description),
        ("rkey", uri.key?.description),
      ])
  }

  private func object(
    _ method: String, _ query: [(name: String, value: String?)]
  ) throws(CallFailure) -> [UInt8]? {
    switch try read(method, query) {
    case .refused(let error) where error.isAbsence: return nil
    case .refused(let error): throw CallFailure(place(method), error.line, error.exit)
    case .answer(let head, let body):
      guard Self.isObject(body) else {
        throw CallFailure(place(method), "\(head.summary): the answer is not an object", .failure)
      }
      return RowText.line(body)
    }
  }

  /// Reads need nobody to log in; where a server wants that, we do.
  func read(
    _ method: String, _ query: [(name: String, value: String?)]
  ) throws(CallFailure) -> XRPCLine.Reply {
    let request = try made { () throws(SettingsError) in
      try server.request(method, query: query)
    }
    let reply = try line.call(request)
    guard case .refused(let error) = reply, error.isLoginWanted, !error.name.isEmpty,
      server.identifier != nil
    else { return reply }
    return try session.call { tokens throws(SettingsError) in
      try server.request(method, query: query, token: tokens.access)
    }
  }

  func place(_ method: String) -> String {
    (try? server.request(method).address.display) ?? server.base.display
  }

  // MARK: - Writing

  /// Writes a record under a key. This can be done twice: what is there already is done.
  ///
  /// - Parameters:
  ///   - draft: the record.
  ///   - collection: where.
  ///   - key: under which key.
  ///   - swap: what must be there now.
  /// - Throws: `CallFailure` where no answer came, or nobody lets us in.
  public func put(
    _ draft: RecordDraft, _ collection: NSID, _ key: RecordKey, swap: RecordSwap
  ) throws(CallFailure) -> WriteOutcome {
    let reply = try session.call { tokens throws(SettingsError) in
      let text = target(tokens, collection, key, swap).json("record", bytes: draft.bytes)
      return try server.request(
        "com.atproto.repo.putRecord", body: text.bytes, token: tokens.access)
    }
    switch reply {
    case .answer(_, let body):
      guard let cid = Self.member("cid", of: body), Self.isObject(body) else {
        return .refused("the answer tells no CID", .failure)
      }
      if cid == draft.cid.description { return .done(RowText.line(body)) }
      return .refused(
        "the server keeps another record than was sent: \(cid), not \(draft.cid)", .failure)
    case .refused(let error) where error.isConflict:
      // The first answer may have been lost.
      let uri = ATURI(Repository(try session.account()), collection, key)
      guard let row = try get(uri), Self.member("cid", of: row) == draft.cid.description else {
        return .conflict(error.line)
      }
      return .done(
        RecordText().string("uri", uri.description).string("cid", draft.cid.description).bytes)
    case .refused(let error): return try refusal(error, "com.atproto.repo.putRecord")
    }
  }

  /// Deletes a record; one that is not there is deleted already, unless a CID is asked for.
  ///
  /// - Parameters:
  ///   - collection: where.
  ///   - key: under which key.
  ///   - swap: what must be there now.
  /// - Throws: `CallFailure` as above.
  public func delete(
    _ collection: NSID, _ key: RecordKey, swap: RecordSwap
  ) throws(CallFailure) -> WriteOutcome {
    let uri = ATURI(Repository(try session.account()), collection, key)
    let reply = try session.call { tokens throws(SettingsError) in
      try server.request(
        "com.atproto.repo.deleteRecord", body: target(tokens, collection, key, swap).bytes,
        token: tokens.access)
    }
    switch reply {
    case .answer(_, let body):
      let commit = body.withUnsafeBytes { bytes in
        (try? ScanMembers.value(of: "commit", in: bytes)).map { Array($0.bytes) } ?? []
      }
      return .done(
        RecordText().string("uri", uri.description)
          .json("commit", bytes: commit.isEmpty ? nil : commit).bytes)
    case .refused(let error):
      // Gone, by us or by somebody else.
      if !error.isTokenRefused || error.name.isEmpty, try get(uri) == nil {
        return .done(RecordText().string("uri", uri.description).bytes)
      }
      if error.isConflict { return .conflict(error.line) }
      return try refusal(error, "com.atproto.repo.deleteRecord")
    }
  }

  private func target(
    _ tokens: PDSTokens, _ collection: NSID, _ key: RecordKey, _ swap: RecordSwap
  ) -> RecordText {
    let text = RecordText().string("repo", tokens.did.description)
      .string("collection", collection.description).string("rkey", key.description)
    switch swap {
    case .any: return text
    case .absent: return text.json("swapRecord", "null")
    case .cid(let cid): return text.string("swapRecord", cid.description)
    }
  }

  /// An account that is not let in is not let in with the next record, either.
  private func refusal(_ error: XRPCError, _ method: String) throws(CallFailure) -> WriteOutcome {
    if error.exit == .denied { throw CallFailure(place(method), error.line, .denied) }
    return .refused(error.line, error.exit)
  }

  // MARK: - Parts

  private func made(_ body: () throws(SettingsError) -> Request) throws(CallFailure) -> Request {
    do throws(SettingsError) { return try body() } catch { throw CallFailure(error) }
  }

  static func isObject(_ body: [UInt8]) -> Bool {
    body.withUnsafeBytes { bytes in
      bytes.first { ![9, 10, 13, 32].contains($0) } == UInt8(ascii: "{")
        && ScanValidator.isValue(bytes)
    }
  }

  static func member(_ name: String, of body: [UInt8]) -> String? {
    body.withUnsafeBytes { bytes in
      guard let value = try? ScanMembers.value(of: name, in: bytes), value.isString else {
        return nil
      }
      return value.string
    }
  }
}
