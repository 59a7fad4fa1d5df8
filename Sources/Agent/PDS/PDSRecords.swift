public import Core
import Records
import Web

/// The records of a repository on a personal data server.
public final class PDSRecords {
  let server: PDSServer
  private let line: XRPCLine
  let session: PDSSession
  private let given: Repository?
  /// Whether what is not written waits: then what a server forbids is said of one record, and what
  /// stands before a server says nothing of any.
  var isQueued = false

  /// - Parameter repository: whose records; nil for those of the profile's identifier.
  public init(
    _ access: PDSAccess, repository: Repository?, _ limits: PDSLimits, _ diagnostics: Diagnostics
  ) {
    server = access.server
    given = repository
    line = XRPCLine(access.client, limits, diagnostics)
    session = PDSSession(server, line, limits, diagnostics)
  }

  /// Whose records are read: the account by its DID, once that is known.
  ///
  /// - Throws: `Failure` when nobody is named.
  public func repository() throws(Failure) -> Repository {
    if let given { return given }
    if let identifier = server.identifier {
      return session.known().map { Repository($0.did) } ?? identifier
    }
    throw Failure(
      server.base.display, "whose records? set identifier in the profile, or give --repo", .failure)
  }

  /// Who writes, and where: what the keys of records belong to.
  public var account: String { "\(server.base.originText) \(server.identifier?.description ?? "")" }

  /// Whether a repository is the account's own, as far as that is known without asking.
  public func isOwn(_ repository: Repository) -> Bool {
    repository == server.identifier || session.known()?.isOf(repository) == true
  }

  /// Whose something is.
  public enum Owner: Sendable {
    /// The account's own.
    case own
    /// Somebody else's.
    case others
    /// Nobody has logged in, who could say it.
    case unknown
  }

  /// Whose a repository is, without asking.
  public func knownOwner(_ repository: Repository) -> Owner {
    if isOwn(repository) { return .own }
    return session.known() == nil ? .unknown : .others
  }

  /// Makes sure that a record is one of the account's own, which alone can be written.
  ///
  /// - Parameter repository: of the record; nil where nothing is said.
  /// - Throws: `Failure` where nobody lets us in.
  public func owns(_ repository: Repository?) throws(Failure) -> Bool {
    guard let repository, repository != server.identifier else { return true }
    return try session.account().isOf(repository)
  }

  /// Logs in with the password, which goes nowhere before the server has said that it is one.
  ///
  /// - Returns: who that is, one JSON object: `did`, and `handle` where there is one.
  /// - Throws: `Failure`, `denied` for a password that is not taken.
  public func logIn() throws(Failure) -> [UInt8] {
    let method = "com.atproto.server.describeServer"
    guard try found(method, []) != nil else {
      throw Failure(place(method), "not a personal data server", .failure)
    }
    let tokens = try session.logInAnew()
    return RecordText().string("did", tokens.did.description)
      .string("handle", tokens.handle?.description).bytes
  }

  // MARK: - Reading

  /// What a repository holds.
  ///
  /// - Returns: the server's answer; nil when there is no such repository.
  public func describe() throws(Failure) -> [UInt8]? {
    try found("com.atproto.repo.describeRepo", [("repo", try repository().description)])
  }

  /// Whose it is, as the server says; nil when there is no such repository.
  func did() throws(Failure) -> String? {
    try describe().flatMap { ScanMembers.text(of: "did", in: $0) }
  }

  /// One record.
  ///
  /// - Returns: the row; nil when there is none.
  public func get(_ uri: ATURI) throws(Failure) -> [UInt8]? {
    try look(uri).value(at: place(Self.getting))
  }

  private static let getting = "com.atproto.repo.getRecord"

  /// The same, where what the server says of one record must not end everything.
  public func look(_ uri: ATURI) throws(Failure) -> RecordAnswer {
    let query: [(name: String, value: String?)] = [
      ("repo", uri.repository.description), ("collection", uri.collection?.description),
      ("rkey", uri.key?.description),
    ]
    let answer = try object(Self.getting, query)
    guard case .found(let row) = answer else { return answer }
    let name = ScanMembers.text(of: "uri", in: row).flatMap { ATURI($0) }
    guard let name, name.collection == uri.collection, name.key == uri.key else {
      return .refused("the answer is \(name?.description.cut ?? "no row of a record")")
    }
    return answer
  }

  private func found(
    _ method: String, _ query: [(name: String, value: String?)]
  ) throws(Failure) -> [UInt8]? {
    try object(method, query).value(at: place(method))
  }

  private func object(
    _ method: String, _ query: [(name: String, value: String?)]
  ) throws(Failure) -> RecordAnswer {
    switch try read(method, query) {
    case .failure(let error) where error.isAbsence:
      try requireActive(error, query)
      return .absent
    case .failure(let error)
    where error.exit == .failure || isAboutOne(error)
      || method == Self.getting
        && (error.isAboutAccount && !isQueued || error.isInternal):
      return .refused(error.line)
    case .failure(let error): throw Failure(place(method), error.line, error.exit)
    case .success(let (head, body)):
      guard Self.isObject(body) else {
        return .refused("\(head.summary): the answer is not an object")
      }
      return .found(RowText.line(body))
    }
  }

  /// A repository whose account is not active looks to readers as if there were none.
  ///
  /// - Throws: `Failure`, `denied` where that is so.
  private func requireActive(
    _ error: XRPCError, _ query: [(name: String, value: String?)]
  ) throws(Failure) {
    guard error.isRepositoryAbsence,
      let name = query.first(where: { $0.name == "repo" })?.value
    else { return }
    let known = session.known()
    let own = known.flatMap { known in
      Repository(name).map { known.isOf($0) } == true || name == server.identifier?.description
        ? known.did : nil
    }
    if let did = DID(name) ?? own {
      let method = "com.atproto.sync.getRepoStatus"
      switch try read(method, [("did", did.description)]) {
      case .failure(let error) where error.isAboutAccount:
        throw Failure(place(method), error.line, .denied)
      case .success(let (_, body)):
        guard Self.isObject(body) else { return }
        let json = JSONValue(body)
        if json?["active"]?.bool == false {
          let state = json?["status"]?.string ?? "not active"
          throw Failure(place(method), "the account \(did) is \(state.cut)", .denied)
        }
        return
      case .failure: break
      }
    }
    let method = "com.atproto.repo.describeRepo"
    if case .failure(let error) = try read(method, [("repo", name)]), error.isAboutAccount {
      throw Failure(place(method), error.line, .denied)
    }
  }

  /// Reads need nobody to log in; where a server wants that, we do.
  func read(
    _ method: String, _ query: [(name: String, value: String?)], mostFaults: Int = .max,
    isAny: Bool = false
  ) throws(Failure) -> XRPCLine.Reply {
    let request = try server.request(method, query: query)
    let reply = try line.call(request, mostFaults: mostFaults, isAny: isAny)
    guard case .failure(let error) = reply, error.isLoginWanted, !error.name.isEmpty,
      server.identifier != nil
    else { return reply }
    return try session.call { tokens throws(Failure) in
      try server.request(method, query: query, token: tokens.access, secrets: tokens.others)
    }
  }

  func place(_ method: String) -> String {
    (try? server.request(method).address.display) ?? server.base.display
  }

  // MARK: - Writing

  /// Writes a record under a key. This can be done twice: what is there already is done.
  ///
  /// - Parameter swap: what must be there now.
  /// - Throws: `Failure` where no answer came, or nobody lets us in.
  public func put(
    _ draft: RecordDraft, _ collection: NSID, _ key: RecordKey, swap: RecordSwap
  ) throws(Failure) -> WriteOutcome {
    let body = target(try session.account(), collection, key, swap)
      .json("record", bytes: draft.bytes).bytes
    guard body.count <= RecordDraft.largest else {
      let most = RecordDraft.largest
      return .refused("a request of \(body.count) bytes; servers take \(most)", .failure)
    }
    let method = "com.atproto.repo.putRecord"
    switch try write(method, { _ in body }) {
    case .success(let (head, body)):
      guard let cid = ScanMembers.text(of: "cid", in: body), Self.isObject(body) else {
        return try odd("\(head.summary): the answer tells no CID", method)
      }
      if cid == draft.cid.description { return .done(RowText.line(body)) }
      let other = CID(cid)?.description ?? "no CID, \(head.quoted(String(cid.cut)))"
      return .altered("the server keeps another record than was sent: \(other), not \(draft.cid)")
    case .failure(let error) where error.isConflict:
      // The first answer may have been lost.
      let uri = ATURI(Repository(try session.account().did), collection, key)
      switch try look(uri) {
      case .found(let row) where ScanMembers.text(of: "cid", in: row) == draft.cid.description:
        break
      case .found, .absent: return .conflict(error.line)
      case .refused(let reason):
        return .refused("\(error.line), and what is there is not told: \(reason)", .failure)
      }
      return .done(
        RecordText().string("uri", uri.description).string("cid", draft.cid.description).bytes)
    case .failure(let error): return try refusal(error, method)
    }
  }

  /// Writes several records in one commit: all of them, or none.
  ///
  /// - Parameters:
  ///   - writes: of different records; 200 at most, and together no larger than a request.
  ///   - areNew: whether none of them is there now; else all are.
  /// - Returns: what came of each; nil where nothing is known to be done: that is not so, the
  ///   server has no such call, or does not want one of them.
  /// - Throws: `Failure` where no answer came, or nobody lets us in.
  public func putAll(
    _ writes: [(place: RecordPlace, draft: RecordDraft)], areNew: Bool
  ) throws(Failure) -> [WriteOutcome]? {
    let method = "com.atproto.repo.applyWrites"
    let kind = "\(method)#\(areNew ? "create" : "update")"
    let list = writes.map { place, draft in
      RecordText().string("$type", kind).string("collection", place.collection.description)
        .string("rkey", place.key.description).json("value", bytes: draft.bytes)
    }
    let reply = try write(method, isProbe: true) { tokens in
      RecordText().string("repo", tokens.did.description).objects("writes", list).bytes
    }
    guard case .success(let (_, body)) = reply else {
      if case .failure(let error) = reply, error.exit == .denied { _ = try refusal(error, method) }
      return nil
    }
    let rows = ScanMembers.copy(of: "results", in: body).flatMap(Answer.elements)
    guard let rows, rows.count == writes.count else { return nil }
    return zip(writes, rows).map { write, row in
      let cid = ScanMembers.text(of: "cid", in: row)
      guard cid == write.draft.cid.description else {
        let other = cid.flatMap { CID($0)?.description } ?? "no CID"
        return .altered(
          "the server keeps another record than was sent: \(other), not \(write.draft.cid)")
      }
      return .done(
        RecordText().string("uri", ScanMembers.text(of: "uri", in: row)).string("cid", cid)
          .json("commit", bytes: ScanMembers.copy(of: "commit", in: body))
          .string("validationStatus", ScanMembers.text(of: "validationStatus", in: row)).bytes)
    }
  }

  /// Deletes a record; one that is not there is deleted already, unless a CID is asked for.
  ///
  /// - Parameter swap: what must be there now.
  public func delete(
    _ collection: NSID, _ key: RecordKey, swap: RecordSwap
  ) throws(Failure) -> WriteOutcome {
    let uri = ATURI(Repository(try session.account().did), collection, key)
    let unanswered = line.unanswered
    let method = "com.atproto.repo.deleteRecord"
    let reply = try write(method) { target($0, collection, key, swap).bytes }
    // An earlier try may have deleted it.
    let isFirst = line.unanswered == unanswered
    switch reply {
    case .success(let (head, body)):
      guard Self.isObject(body) else {
        if case .absent = try look(uri) { return gone(uri, swap, isFirst) }
        return try odd("\(head.summary): the answer is not an object", method)
      }
      guard let commit = ScanMembers.copy(of: "commit", in: body) else {
        return gone(uri, swap, isFirst)
      }
      return .done(
        RecordText().string("uri", uri.description).json("commit", bytes: commit).bytes)
    case .failure(let error):
      // Gone, by us or by somebody else.
      if !error.isAboutAccount, !error.isTokenRefused || error.name.isEmpty,
        case .absent = try look(uri)
      {
        return gone(uri, swap, isFirst)
      }
      if error.isConflict { return .conflict(error.line) }
      return try refusal(error, method)
    }
  }

  func write(
    _ method: String, isProbe: Bool = false, type: String = "application/json",
    _ body: (PDSTokens) -> [UInt8]
  ) throws(Failure) -> XRPCLine.Reply {
    try session.call(isProbe: isProbe) { tokens throws(Failure) in
      try server.request(
        method, body: body(tokens), type: type, token: tokens.access, secrets: tokens.others)
    }
  }

  /// Nothing is there, which is as it should be unless one asked for something.
  private func gone(_ uri: ATURI, _ swap: RecordSwap, _ isFirst: Bool) -> WriteOutcome {
    if isFirst, case .cid = swap { return .conflict("no record is there") }
    return .done(RecordText().string("uri", uri.description).bytes)
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
  private func refusal(_ error: XRPCError, _ method: String) throws(Failure) -> WriteOutcome {
    if error.exit == .denied, !isAboutOne(error) {
      throw Failure(place(method), error.line, .denied)
    }
    if error.isMethodMissing, error.name.isEmpty { return try odd(error.line, method) }
    return .refused(error.line, error.exit)
  }

  private func isAboutOne(_ error: XRPCError) -> Bool {
    isQueued && error.exit == .denied && !error.isTokenRefused && !error.isAboutAccount
  }

  private func odd(_ reason: String, _ method: String) throws(Failure) -> WriteOutcome {
    if isQueued { throw Failure(place(method), reason, .failure) }
    return .refused(reason, .failure)
  }

  // MARK: - Parts

  static func isObject(_ body: [UInt8]) -> Bool {
    body.withUnsafeBytes { bytes in
      bytes.first { ![9, 10, 13, 32].contains($0) } == UInt8(ascii: "{")
        && ScanValidator.isValue(bytes)
    }
  }
}

extension PDSRecords {
  /// What servers give at once.
  private static let pageSize = 100

  /// All records of a collection, the highest key first.
  ///
  /// - Parameters:
  ///   - isReversed: the lowest key first.
  ///   - most: the most that is read, bytes of answers.
  ///   - end: when no further page is asked for, on `Clock.monotonic`.
  ///   - fault: told what of an answer is no record; one line.
  public func list(
    _ collection: NSID, isReversed: Bool, count: Int, most: Int = .max, end: Double = .infinity,
    fault: (String) -> Void, row: ([UInt8]) throws -> Void
  ) throws {
    let method = "com.atproto.repo.listRecords"
    let repository = try repository().description
    var pages = RecordPages(isRising: isReversed, count: count, most: most)
    var cursors = ListCursor()
    var cursor: String?
    var asksReversed = isReversed
    // One record alone does not show in which order they come.
    var size = min(max(count, 2), Self.pageSize)
    var hasFailed = false
    while !pages.isFull {
      if Clock.monotonic > end {
        throw Failure(place(method), "the list did not come whole in time", .temporary)
      }
      let reply = try read(
        method,
        [
          ("repo", repository), ("collection", collection.description), ("limit", "\(size)"),
          ("cursor", cursor), ("reverse", asksReversed ? "true" : nil),
        ], mostFaults: hasFailed ? 1 : .max)
      guard case .success(let (head, body)) = reply else {
        guard case .failure(let error) = reply else { return }
        // One record of the page may be what the server fails at.
        if error.isInternal {
          hasFailed = true
          if size > 1 {
            size = max(size / 10, 1)
            continue
          }
          let key = try keyBehind(cursor, collection, repository, isRising: asksReversed, error)
          fault("at://\(repository)/\(collection)/\(key): \(error.line); passed over")
          (cursor, size) = (key, Self.pageSize)
          continue
        }
        // Not every server can do that.
        if asksReversed, cursor == nil, error.status == 400 || error.status == 501,
          !error.isAbsence
        {
          asksReversed = false
          continue
        }
        if error.isAbsence { try requireActive(error, [("repo", repository)]) }
        throw Failure(place(method), error.line, error.isAbsence ? .negative : error.exit)
      }
      guard let page = Self.page(of: body, fault) else {
        throw Failure(place(method), "\(head.summary): the answer has no records", .failure)
      }
      let (rows, isNews) = pages.receive(page, bytes: body.count)
      if let excess = pages.excess { throw Failure(place(method), excess, .failure) }
      for each in rows { try row(each.bytes) }
      do throws(Failure) {
        cursor = try cursors.next(after: body, isNews: isNews)
      } catch {
        fault(error.reason)
        break
      }
      if cursor == nil { break }
      size = Self.pageSize
    }
    for each in pages.finish() { try row(each.bytes) }
  }

  /// The key of the record behind a cursor, which is a key, by the tree of the whole repository:
  /// a server that fails at a record names it nowhere else.
  private func keyBehind(
    _ cursor: String?, _ collection: NSID, _ repository: String, isRising: Bool,
    _ problem: XRPCError
  ) throws(Failure) -> String {
    let failure = Failure(place("com.atproto.repo.listRecords"), problem.line, problem.exit)
    guard let file = try file() else { throw failure }
    let start = Array("\(collection)/".utf8)
    let all = try file.scan(RepositoryTree.init).records.filter { $0.path.utf8.starts(with: start) }
      .map { String($0.path.dropFirst(start.count)) }
    let key = (isRising ? all : all.reversed()).first { key in
      guard let cursor else { return true }
      let (one, other) = isRising ? (cursor, key) : (key, cursor)
      return one.utf8.lexicographicallyPrecedes(other.utf8)
    }
    guard let key else { throw failure }
    return key
  }

  static func page(of body: [UInt8], _ fault: (String) -> Void) -> [RecordPages.Row]? {
    let list = ScanMembers.copy(of: "records", in: body)
    guard isObject(body), let rows = list.flatMap(Answer.elements) else { return nil }
    return rows.compactMap { bytes in
      guard let uri = ScanMembers.text(of: "uri", in: bytes).flatMap(ATURI.init),
        let collection = uri.collection, let key = uri.key
      else {
        fault("a record without an AT URI")
        return nil
      }
      return ("\(collection)/\(key)", RowText.line(bytes))
    }
  }
}

extension PDSRecords {
  /// Whether the server answers all the same, where the last call brought a page.
  public var isThereBehindPage: Bool {
    line.metPage && (try? requireServer()) != nil
  }

  /// Makes sure that a server of this protocol answers, and nothing that stands before it.
  func requireServer() throws(Failure) {
    let method = "com.atproto.server.describeServer"
    switch try read(method, []) {
    case .success(let (_, body)) where Self.isObject(body): return
    case .success(let (head, _)):
      throw Failure(place(method), "\(head.summary): the answer is not an object", .temporary)
    // A server of few words has its names for that.
    case .failure(let error) where !error.name.isEmpty: return
    case .failure(let error): throw Failure(place(method), error.line, .temporary)
    }
  }
}

extension PDSRecords {
  /// The whole repository as one file (CAR): records, tree and signed commit.
  ///
  /// - Returns: nil when there is no such repository.
  public func file() throws(Failure) -> [UInt8]? {
    guard let did = try did() else { return nil }
    let method = "com.atproto.sync.getRepo"
    // Not every server says what it is.
    let (head, body) = try told(by: try read(method, [("did", did)], isAny: true), method)
    let hasRoot = body.withUnsafeBytes { (try? CARBlocks($0).root()) != nil }
    if hasRoot { return body }
    throw Failure(
      place(method), "\(head.summary): not a repository",
      XRPCError.isPage(head, body) ? .temporary : .failure)
  }

  private func told(
    by reply: XRPCLine.Reply, _ method: String
  ) throws(Failure) -> (head: ResponseHead, body: [UInt8]) {
    try reply.mapError { Failure(place(method), $0.line, $0.exit) }.get()
  }

  /// All records of the repository, of one moment, sorted by collection and key.
  ///
  /// - Parameters:
  ///   - fault: told which record is not to be had; one line.
  ///   - row: gets each, as lists have them.
  /// - Returns: whether there is such a repository.
  /// - Throws: `Failure`, or what `row` throws.
  public func export(fault: (String) -> Void, row: ([UInt8]) throws -> Void) throws -> Bool {
    guard let repository = try did(), let file = try file() else { return false }
    try file.withUnsafeBytes { bytes in
      let tree = try RepositoryTree(bytes)
      for (path, cid) in tree.records {
        let uri = "at://\(repository)/\(path)"
        if let value = (try? tree.value(of: cid)) ?? nil {
          try row(
            RecordText().string("uri", uri).string("cid", cid.description)
              .json("value", value.recordJSON).bytes)
          continue
        }
        // What is nested too deep for us, a server can perhaps write out.
        guard let name = ATURI(uri) else {
          fault("\(uri): not the AT URI of a record")
          continue
        }
        switch try look(name) {
        case .found(let found): try row(found)
        case .absent: fault("\(uri): deleted meanwhile")
        case .refused(let reason): fault("\(uri): \(reason)")
        }
      }
    }
    return true
  }

  /// Keeps a blob on the server, for a record to name it.
  ///
  /// - Parameter type: what it is, `image/png`.
  /// - Returns: the object to put into a record.
  public func putBlob(_ blob: [UInt8], type: String) throws(Failure) -> [UInt8] {
    let method = "com.atproto.repo.uploadBlob"
    let (head, body) = try told(by: try write(method, type: type) { _ in blob }, method)
    let found = ScanMembers.copy(of: "blob", in: body)
    guard let found, found.first == UInt8(ascii: "{") else {
      throw Failure(place(method), "\(head.summary): no blob in the answer", .failure)
    }
    return RowText.line(found)
  }

  /// A blob.
  ///
  /// - Returns: nil when there is none.
  /// - Throws: `Failure`; what has not this CID is one, too.
  public func blob(_ cid: CID) throws(Failure) -> [UInt8]? {
    guard let did = try did() else { return nil }
    let method = "com.atproto.sync.getBlob"
    let reply = try read(method, [("did", did), ("cid", cid.description)], isAny: true)
    if case .failure(let error) = reply, error.isAbsence || error.name == "BlobNotFound" {
      return nil
    }
    let (head, body) = try told(by: reply, method)
    if CID(ofBlob: body) == cid { return body }
    let isPage = XRPCError.isPage(head, body)
    throw Failure(
      place(method), "\(head.summary): another blob than was asked for",
      isPage ? .temporary : .failure)
  }
}

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
  /// Written, but as another record than was sent.
  case altered(String)
  /// The server does not want it.
  case refused(String, ExitStatus)
}

/// What a server says of one thing.
public enum RecordAnswer {
  /// It is this, one JSON object.
  case found([UInt8])
  /// There is none.
  case absent
  /// The server does not tell; why.
  case refused(String)

  /// Nil for none.
  func value(at place: String) throws(Failure) -> [UInt8]? {
    switch self {
    case .found(let value): return value
    case .absent: return nil
    case .refused(let reason): throw Failure(place, reason, .failure)
    }
  }
}

/// Puts the pages of a collection into one list in the order that is asked for, whatever the
/// server's is: each record once, none left out (Agent/PDS/CONTRACT.md 5).
struct RecordPages {
  /// `path` is `NSID/KEY`: a server may call the repository by either of its names.
  typealias Row = (path: String, bytes: [UInt8])

  private enum State {
    /// Fewer than two records came: nothing tells the order.
    case unknown
    /// They come as they are wanted.
    case passing
    /// They come the other way round, and wait for the end.
    case turning
  }

  private let isRising: Bool
  private let count: Int
  /// The most that is read, and the most that is turned round in memory, bytes.
  private let (most, mostHeld): (Int, Int)
  private var state = State.unknown
  private var seen: Set<String> = []
  private var held: [Row] = []
  private var given = 0
  private var heldBytes = 0
  private var readBytes = 0

  /// Keeps `count` rows; `most`: bytes of answers that are read, `mostHeld`: held to be reversed.
  init(isRising: Bool, count: Int, most: Int = .max, mostHeld: Int = 256 << 20) {
    (self.isRising, self.count, self.most, self.mostHeld) = (isRising, count, most, mostHeld)
  }

  var isFull: Bool { state == .passing && given >= count || count == 0 }

  /// Why it must end here, in a line; nil where it need not.
  var excess: String? {
    if readBytes > most { return "a list of more than \(most) bytes" }
    if heldBytes <= mostHeld { return nil }
    return "more than \(mostHeld) bytes in the other order; see --reverse"
  }

  /// The rows that can be written now, and whether any had not come before.
  mutating func receive(_ page: [Row], bytes: Int) -> (rows: [Row], isNews: Bool) {
    readBytes += bytes
    let fresh = page.filter { seen.insert($0.path).inserted }
    if state == .passing { return (pass(fresh), !fresh.isEmpty) }
    for row in fresh { heldBytes += row.bytes.count }
    held += fresh
    if state == .unknown, let first = held.first, let last = held.last, held.count > 1 {
      if Self.isBelow(first.path, last.path) == isRising {
        state = .passing
        return (pass(drain()), true)
      }
      state = .turning
    }
    // Of those that come in the wrong order the last are wanted.
    if state == .turning, held.count >= 2 * max(count.clamped, 512) {
      for row in held.dropLast(count.clamped) { heldBytes -= row.bytes.count }
      held = Array(held.suffix(count.clamped))
    }
    return ([], !fresh.isEmpty)
  }

  mutating func finish() -> [Row] { pass(drain().reversed()) }

  private mutating func drain() -> [Row] {
    defer { (held, heldBytes) = ([], 0) }
    return held
  }

  private mutating func pass(_ rows: [Row]) -> [Row] {
    let passed = rows.prefix(count - given)
    given += passed.count
    return Array(passed)
  }

  private static func isBelow(_ one: String, _ other: String) -> Bool {
    one.utf8.lexicographicallyPrecedes(other.utf8)
  }
}

extension Int {
  fileprivate var clamped: Int { Swift.min(self, 1 << 40) }
}

/// Where a list goes on, and whether it does (Agent/PDS/CONTRACT.md 5).
struct ListCursor {
  static let mostIdle = 10

  private var seen: Set<[UInt8]> = []
  private var idle = 0

  /// Nil at the end: no cursor, or one that came before. `isNews`: the page brought a new record.
  mutating func next(after body: [UInt8], isNews: Bool) throws(Failure) -> String? {
    let cursor = try Self.cursor(of: body)
    guard let cursor, !cursor.isEmpty, seen.insert(Array(cursor.utf8)).inserted else { return nil }
    idle = isNews ? 0 : idle + 1
    if idle == Self.mostIdle {
      throw Failure("\(idle) pages in a row without a new record; no more are read")
    }
    return cursor
  }

  private static func cursor(of body: [UInt8]) throws(Failure) -> String? {
    try body.scan { bytes throws(Failure) in
      let value = (try? ScanMembers.value(of: "cursor", in: bytes)) ?? .absent
      if value.isNull { return nil }
      if value.isString || value.isNumber { return value.string }
      throw Failure("a cursor that is neither a text nor a number")
    }
  }
}
