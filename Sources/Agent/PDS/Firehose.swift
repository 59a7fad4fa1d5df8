import CLibc
public import Core
import Frames
import Records
import Web

/// The events of one repository, out of the stream that a server has for all: each with the
/// records as they became (Agent/PDS/CONTRACT.md 6). A server without such a stream is asked
/// again and again instead.
final class Firehose {
  /// The largest message, bytes, where no larger one is asked for.
  private static let usualLargest = 8 << 20
  /// How often a ping asks whether anybody is there, seconds.
  private static let pingEvery = 30.0
  /// How long it may take to get all records of one event, seconds.
  private static let longestFetch = 120.0
  /// The largest record, bytes, with what stands around it.
  private static let largestRecord = 4 << 20

  private let follow: Follow
  private let visit: PDSVisit
  private let name: Repository
  private let asked: Repository
  private let collections: [NSID]
  private let state: String?
  private let expected: (DID) -> String?
  private let maxBytes: Int?
  private var repository: DID?
  /// Takes the place of the stream where there is none.
  private var poll: RepositoryPoll?
  private var hasOpened = false
  private var isFresh = true
  /// What is not newer was told before the numbers began again; nil when they did not.
  private var floor: Timestamp?
  private var isOutdated = false
  /// The newest commit before the first connection, as long as no event told a number: a line that
  /// breaks then leaves nothing else to go on behind. Nil where the server does not tell it.
  private var newest: String?
  private var isMarked = false
  /// All that is kept is replayed, and what is not behind this commit was there at the start.
  private var replayed: String?
  /// What the next connection has to say of what was missed.
  private var gap: StreamGap?

  /// `asked`: what it is looked up by, unless the name is a DID. `expected`: says why events of a
  /// repository are not wanted; nil where they are.
  init(
    _ follow: Follow, _ visit: PDSVisit, _ name: Repository, _ asked: Repository,
    _ collections: [NSID], state: String?, expected: @escaping (DID) -> String?
  ) {
    (self.follow, self.visit, self.name, self.asked) = (follow, visit, name, asked)
    self.collections = collections
    (self.state, self.expected) = (state, expected)
    maxBytes = follow.policy.maxEventBytes
  }

  func run() throws(LinkEnd) -> Never {
    let repository: DID
    if let known = self.repository { repository = known } else { repository = try lookUp() }
    self.repository = repository
    while poll == nil {
      do throws(LinkEnd) { try listen(to: repository) } catch {
        let problem: Failure
        switch error {
        case .refused(let head, let body):
          let refusal = XRPCError(head, body, now: Clock.unix)
          // Behind a proxy that does not hand the upgrade on the server sees an odd call.
          let isPolled = refusal.isMethodMissing || refusal.status == 400
          if refusal.isPage, hasOpened || !isPolled {
            throw .lost(refusal.line, after: refusal.wait)
          }
          if visit.canEnter(refusal) {
            try visit.enter(refusal)
            continue
          }
          if hasOpened || !isPolled {
            problem = Failure(refusal.line, refusal.exit)
            guard problem.status == .temporary else { throw .failed(problem, at: socketPlace) }
            throw .lost(problem.message, after: head.wait(now: Clock.unix))
          }
          problem = Failure(refusal.line, .failure)
        case .failed(let found, _) where !hasOpened: problem = found
        default: throw error
        }
        poll = RepositoryPoll(follow, visit, repository, collections, because: problem)
      }
    }
    while true {
      do throws(LinkEnd) { try poll?.run() } catch {
        // Perhaps it was not the server who refused the stream.
        if poll?.hasLooked == false { poll = nil }
        throw error
      }
    }
  }

  private func lookUp() throws(LinkEnd) -> DID {
    if let did = name.did { return did }
    switch try visit.ask(
      follow, "com.atproto.repo.describeRepo", [("repo", asked.description)], limit: 1 << 20)
    {
    case .success(let (head, body)):
      guard PDSRecords.isObject(body),
        let did = ScanMembers.text(of: "did", in: body).flatMap({ DID($0) })
      else { throw failed("\(head.summary): \(name): no DID in the answer") }
      if let reason = expected(did) { throw failed(reason) }
      visit.succeeded()
      return did
    case .failure(let error):
      if error.isTransient || error.isPage { throw .lost(error.line, after: error.wait) }
      throw error.isAbsence
        ? failed("\(name): no such repository", .negative) : failed(error.line, error.exit)
    }
  }

  private func failed(_ reason: String, _ status: ExitStatus = .failure) -> LinkEnd {
    .failed(Failure(reason, status), at: visit.base.display)
  }

  // MARK: - The stream

  private func request() throws(LinkEnd) -> Request {
    let cursor = follow.lastNumber ?? (replayed == nil ? nil : 0)
    return try visit.request(
      "com.atproto.sync.subscribeRepos", [("cursor", cursor.map { String($0) })])
  }

  /// Notes the newest commit before a connection that has no number to begin behind. Where there
  /// was such a connection before, another commit tells that something was missed: it is replayed.
  private func mark(_ repository: DID) throws(LinkEnd) {
    let found: String?
    switch try visit.ask(
      follow, "com.atproto.sync.getLatestCommit", [("did", repository.description)],
      limit: 1 << 20)
    {
    case .success(let (_, body)): found = ScanMembers.text(of: "rev", in: body)
    case .failure(let error) where error.isPage: throw .lost(error.line)
    case .failure(let error):
      if error.isAboutAccount, !isMarked { follow.note(error.line) }
      found = nil
    }
    if hasOpened {
      if found == nil || newest == nil {
        gap = StreamGap(thing: "commits")
      } else if found != newest {
        replayed = newest
      }
    }
    (isMarked, newest) = (true, found ?? newest)
  }

  private var socketPlace: String? { (try? request())?.address.socketDisplay }

  private func listen(to repository: DID) throws(LinkEnd) -> Never {
    var options = SocketOptions()
    options.maxMessageBytes = max(Self.usualLargest, maxBytes ?? 0)
    if follow.lastNumber == nil, replayed == nil { try mark(repository) }
    let socket = try LiveSocket.connect(
      follow, try request(), options: options, idle: follow.policy.idleTimeout)
    (hasOpened, isFresh) = (true, true)
    visit.succeeded()
    follow.opened(socket.place)
    if let gap { follow.report(gap) }
    gap = nil
    while true {
      switch try socket.receive(idle: follow.policy.idleTimeout, pingEvery: Self.pingEvery) {
      case .message(let message) where !message.isText:
        if let maxBytes, message.bytes.count > maxBytes {
          follow.oversize(bytes: message.bytes.count)
        } else {
          try receive(message.bytes, socket, repository)
        }
      case .message: fault("a text is no event")
      case nil: continue
      case .oversize(let bytes) where bytes > maxBytes ?? .max: follow.oversize(bytes: bytes)
      case .oversize:
        fault("an event of more than \(Self.usualLargest) bytes dropped; see --max-event-bytes")
      }
    }
  }

  private func receive(
    _ bytes: UnsafeRawBufferPointer, _ socket: LiveSocket, _ repository: DID
  ) throws(LinkEnd) {
    let frame: FirehoseFrame
    do throws(Failure) { frame = try FirehoseFrame(bytes) } catch {
      return fault("an event is dropped: \(error.reason)")
    }
    switch frame {
    case .event(let name, let body, let blocks):
      var event = FirehoseEvent(name, body, collections: collections)
      guard try isNews(event, body, of: repository) else { return }
      event.takeRecords(from: blocks)
      if let number = event.number, event.lacksRecords {
        // It comes again if the link is lost now.
        if follow.lastNumber == nil, number > 0 { follow.restart(behind: number - 1) }
        try fetch(&event, of: repository)
        socket.restart()
        visit.succeeded()
      }
      try follow.print(event)
    case .error(let name, let message):
      let words = [name, message].filter { !$0.isEmpty }.joined(separator: ": ").cut
      // Not every server closes the connection then.
      guard name == "FutureCursor" else {
        throw .lost(words.isEmpty ? "the server ended the stream" : words)
      }
      let help = state.map { ": remove \($0) to begin with what happens now" } ?? ""
      throw failed(words + (follow.lastNumber.map { " (event \($0))\(help)" } ?? ""))
    }
  }

  /// Whether an event is to be printed; one that is not is skipped.
  private func isNews(
    _ event: FirehoseEvent, _ body: CBORValue, of repository: DID
  ) throws(LinkEnd) -> Bool {
    if event.name == "#info" {
      isOutdated = isOutdated || body["name"]?.text == "OutdatedCursor"
      return collections.isEmpty && replayed == nil
    }
    guard let number = event.number else {
      if event.owner == repository.description {
        fault("\(event.name.cut) without a number is dropped")
      }
      return false
    }
    let last = follow.lastNumber
    if isFresh, let last, beginsAgain(event, number, behind: last) {
      follow.note("the server's events are numbered anew: \(number) comes behind \(last)")
      // Those before this one are new, too.
      floor = follow.lastTime
      follow.restart(behind: 0)
      throw .lost("the numbers of the events began again")
    }
    isFresh = false
    guard number > last ?? .min else { return false }
    if let floor, let time = event.time, time <= floor {
      follow.skip(to: number, nil)
      return false
    }
    floor = nil
    if isOutdated, let last, last + 1 < number { follow.missed(last + 1...number - 1) }
    isOutdated = false
    let isOurs = event.owner == repository.description
    let isWanted =
      isOurs && !wasThere(event)
      && (collections.isEmpty || event.changes?.isEmpty == false || event.isTooBig)
    if !isWanted { follow.skip(to: number, event.time) }
    return isWanted
  }

  /// Whether an event of a replay was there before this began.
  private func wasThere(_ event: FirehoseEvent) -> Bool {
    guard let replayed else { return false }
    let start = TID(replayed)?.time
    guard let revision = event.revision else {
      if let time = event.time, let start { return time <= start }
      return false
    }
    if revision <= replayed { return true }
    guard event.name == "#commit" else { return false }
    if let since = event.since, since > replayed {
      follow.report(
        StreamGap(thing: "commits", after: start?.rfc3339, before: event.time?.rfc3339))
    }
    self.replayed = nil
    return false
  }

  /// Whether a server that was asked for what is behind an event numbers anew: it sends a number
  /// that is not behind it, of something that happened later.
  private func beginsAgain(_ event: FirehoseEvent, _ number: Int64, behind last: Int64) -> Bool {
    guard number <= last else { return false }
    if let time = event.time, let lastTime = follow.lastTime { return time > lastTime }
    return number < last
  }

  private func fault(_ reason: String) { follow.fault("\(visit.base.display): \(reason)") }

  // MARK: - The records of an event

  private func fetch(_ event: inout FirehoseEvent, of repository: DID) throws(LinkEnd) {
    let changes = event.changes ?? []
    let wanted = changes.indices.filter { changes[$0].hasRecord && changes[$0].value == nil }
    while true {
      var requests: [Request] = []
      for index in wanted {
        guard let name = changes[index].name else { continue }
        requests.append(
          try visit.request(
            "com.atproto.repo.getRecord",
            [
              ("repo", repository.description), ("collection", name.collection.description),
              ("rkey", name.key.description),
            ]))
      }
      var refusal: XRPCError?
      var fetches = Fetches(
        follow, requests, silence: 30, limit: Self.largestRecord,
        until: Clock.monotonic + Self.longestFetch)
      while refusal == nil, let (end, index) = try fetches.next() {
        switch try record(end, changes[wanted[index]]) {
        case .success(let value): event.changes?[wanted[index]].value = value
        case .failure(let error): refusal = error
        }
      }
      if let refusal {
        guard visit.canEnter(refusal) else { throw failed(Self.words(refusal.line), .denied) }
        try visit.enter(refusal)
        continue
      }
      return
    }
  }

  /// The record, nil where it is another one by now, or gone; the failure of who has not logged in.
  private func record(
    _ end: FetchEnd, _ change: FirehoseChange
  ) throws(LinkEnd) -> Result<[UInt8]?, XRPCError> {
    switch end {
    case .failed(let reason): throw .lost(Self.words(reason))
    case .unusable(let failure): throw .lost(Self.words(failure.reason))
    case .late: throw .lost(Self.words("no whole answer in \(Int(Self.longestFetch)) s"))
    case .response(let head, let body) where (200...299).contains(head.status):
      guard PDSRecords.isObject(body) else {
        throw .lost(Self.words("\(head.summary): the answer is not an object"))
      }
      guard ScanMembers.text(of: "cid", in: body) == change.cid?.description else {
        return .success(nil)
      }
      return .success(ScanMembers.copy(of: "value", in: body))
    case .response(let head, let body):
      let error = XRPCError(head, body, now: Clock.unix)
      if error.isAbsence { return .success(nil) }
      // A page is from somebody on the way, who may be gone the next time. What the server fails
      // at itself, it fails at for ever.
      if error.isTransient && !error.isInternal || error.isPage {
        throw .lost(Self.words(error.line), after: error.wait)
      }
      if error.isTokenRefused { return .failure(error) }
      fault("\(change.path.cut): \(Self.words(error.line))")
      return .success(nil)
    }
  }

  private static func words(_ reason: String) -> String {
    "a record could not be fetched: \(reason)"
  }
}

extension Follow {
  func print(_ event: FirehoseEvent) throws(LinkEnd) {
    let number = event.name == "#info" ? nil : event.number
    let id = (number ?? lastNumber).map { Array(String($0).utf8) } ?? []
    try print(
      HeldEvent(type: Array(event.name.utf8), id: id, data: event.data), number: number,
      time: event.time)
  }
}

/// Watches a repository on a server without a stream of events: asks for its last commit, and
/// lists the records again when that is another one (Agent/PDS/CONTRACT.md 6).
final class RepositoryPoll {
  /// The longest wait between two looks, seconds; the first is that of the policy.
  private static let longestWait = 30.0
  private static let largest = 128 << 20

  private let follow: Follow
  private let visit: PDSVisit
  private let repository: DID
  private let collections: [NSID]
  private let problem: Failure
  private var listing: RecordListing
  /// The commit that the last whole list belongs to, or one before it.
  private var revision: String?
  private var pace: Backoff
  private var hasOpened = false
  /// Whether the server has answered.
  var hasLooked: Bool { revision != nil }

  init(
    _ follow: Follow, _ visit: PDSVisit, _ repository: DID, _ collections: [NSID],
    because problem: Failure
  ) {
    (self.follow, self.visit, self.repository) = (follow, visit, repository)
    (self.collections, self.problem) = (collections, problem)
    listing = RecordListing(tellsAll: follow.lastNumber == 0)
    pace = Backoff(base: follow.policy.retryWait, factor: 1.5, cap: Self.longestWait, jitter: 0.1)
  }

  func run() throws(LinkEnd) -> Never {
    var isOpen = false
    while true {
      let (found, changes) = try look()
      let due = Clock.monotonic + pace.next(random: Double.random(in: 0..<1))
      follow.succeeded()
      visit.succeeded()
      if !isOpen { tellOpen() }
      isOpen = true
      for change in changes {
        let body = CBORValue.map([
          .init(name: "repo", value: .text(repository.description)),
          .init(name: "rev", value: .text(found)),
          .init(name: "ops", value: .array([change.change])),
        ])
        var event = FirehoseEvent("#commit", body, collections: [], isPolled: true)
        event.changes = [change]
        if let most = follow.policy.maxEventBytes, event.data.count > most {
          follow.oversize(bytes: event.data.count)
        } else {
          try follow.print(event)
        }
      }
      while Clock.monotonic < due { try follow.wait(until: due) }
    }
  }

  private func tellOpen() {
    if !hasOpened {
      let number = follow.lastNumber.map { $0 > 0 ? ", and not behind event \($0)" : "" } ?? ""
      follow.note("no stream of events: \(problem.message); it is polled\(number)")
    }
    hasOpened = true
    follow.opened(visit.base.display)
  }

  /// The last commit, and what changed since the list before.
  private func look() throws(LinkEnd) -> (String, [FirehoseChange]) {
    let did = repository.description
    let commit = try ask("com.atproto.sync.getLatestCommit", [("did", did)])
    let found = try wanted(ScanMembers.text(of: "rev", in: commit.body), commit.head)
    if found == revision { return (found, []) }
    listing.restart()
    var names = collections
    if names.isEmpty {
      let answer = try ask("com.atproto.repo.describeRepo", [("repo", did)])
      let all = try wanted(JSONValue(answer.body)?["collections"]?.elements, answer.head)
      names = all.compactMap { $0.string.flatMap { NSID($0) } }
    }
    for name in names { try list(name) }
    let changes = listing.finish()
    revision = found
    if !changes.isEmpty { pace.reset() }
    return (found, changes)
  }

  private func list(_ collection: NSID) throws(LinkEnd) {
    var cursors = ListCursor()
    var cursor: String?
    repeat {
      let answer = try ask(
        "com.atproto.repo.listRecords",
        [
          ("repo", repository.description), ("collection", collection.description),
          ("limit", "100"), ("cursor", cursor),
        ])
      let rows = try wanted(
        PDSRecords.page(of: answer.body) { follow.fault($0) }, answer.head)
      var isNews = false
      for row in rows {
        let cid = ScanMembers.text(of: "cid", in: row.bytes).flatMap { CID($0) }
        if let cid, listing.receive(row.path, cid, ScanMembers.copy(of: "value", in: row.bytes)) {
          isNews = true
        }
      }
      // A list that breaks off must not make deletions of the rest.
      cursor = try LinkEnd.ifFailed(cursors.next(after: answer.body, isNews: isNews))
    } while cursor != nil
  }

  // MARK: - Asking

  private func wanted<Value>(_ found: Value?, _ head: ResponseHead) throws(LinkEnd) -> Value {
    if let found { return found }
    throw refusal(
      Failure("\(head.summary): the answer is not what was asked for", .failure))
  }

  /// What is no answer of the server, who was there before, is from somebody on the way.
  private func refusal(_ problem: Failure) -> LinkEnd {
    revision == nil ? .failed(problem) : .lost(problem.message)
  }

  private func ask(
    _ method: String, _ query: [(name: String, value: String?)]
  ) throws(LinkEnd) -> (head: ResponseHead, body: [UInt8]) {
    let error: XRPCError
    switch try visit.ask(follow, method, query, limit: Self.largest) {
    case .success(let answer):
      _ = try wanted(PDSRecords.isObject(answer.body) ? true : nil, answer.head)
      return answer
    case .failure(let found): error = found
    }
    if error.isPage { throw .lost(error.line, after: error.wait) }
    if error.isMethodMissing {
      throw .failed(revision == nil ? problem : Failure(error.line, .failure))
    }
    if error.isTransient { throw .lost(error.line, after: error.wait) }
    throw .failed(error.problem)
  }
}

/// One message of a server's stream of events (Agent/PDS/CONTRACT.md 6).
enum FirehoseFrame: Equatable {
  /// The name, the body without its blocks, and those (a CAR file).
  case event(String, CBORValue, blocks: [UInt8])
  case error(String, String)

  /// Reads a message: two values, one behind the other.
  init(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    var reader = CBORReader(bytes)
    let header = try reader.next()
    let body = try reader.next(leavingOut: "blocks")
    guard reader.isAtEnd else { throw Failure("more than a header and a body") }
    switch header["op"]?.integer {
    case 1:
      guard let name = header["t"]?.text, case .map = body else {
        throw Failure("an event without a name")
      }
      self = .event(name, body, blocks: Array(reader.leftOut))
    case -1: self = .error(body["error"]?.text ?? "", body["message"]?.text ?? "")
    default: throw Failure("neither an event nor an error")
    }
  }
}

struct FirehoseChange {
  /// `NSID/KEY`.
  let path: String
  let cid: CID?
  /// As it came, without a value.
  let change: CBORValue
  /// The record, one JSON object; nil where it was not to be had as it was.
  var value: [UInt8]?

  init?(_ change: CBORValue) {
    guard let path = change["path"]?.text else { return nil }
    self.path = path
    cid = change["cid"]?.link
    // That name is for the record.
    guard case .map(let members) = change else { return nil }
    self.change = .map(members.filter { $0.name != "value" })
  }

  var name: (collection: NSID, key: RecordKey)? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let collection = NSID(parts[0]), let key = RecordKey(parts[1]) else {
      return nil
    }
    return (collection, key)
  }

  var hasRecord: Bool { cid != nil && name != nil }

  fileprivate var text: RecordText {
    let json = Array(change.json.utf8)
    return RecordText().members(Array(json.dropFirst().dropLast())).json("value", bytes: value)
  }
}

struct FirehoseEvent {
  let name: String
  let number: Int64?
  /// When it happened, by the server's clock; nil where that is not told.
  let time: Timestamp?
  private let body: CBORValue
  private let isPolled: Bool
  var changes: [FirehoseChange]?

  init(_ name: String, _ body: CBORValue, collections: [NSID], isPolled: Bool = false) {
    (self.name, self.body, self.isPolled) = (name, body, isPolled)
    number = body["seq"]?.integer
    // As exact as a state keeps it.
    time = body["time"]?.text.flatMap { Timestamp(rfc3339: $0)?.rfc3339 }
      .flatMap { Timestamp(rfc3339: $0) }
    guard name == "#commit" else { return }
    changes = (body["ops"]?.elements ?? []).compactMap(FirehoseChange.init).filter { change in
      collections.isEmpty
        || collections.contains { change.path.hasPrefix($0.description + "/") }
    }
  }

  var isTooBig: Bool { name == "#commit" && body["tooBig"] == .bool(true) }

  /// Whether the records of some changes are to be asked for yet.
  var lacksRecords: Bool { changes?.contains { $0.hasRecord && $0.value == nil } == true }

  /// The commit, and the one before it; nil where that is not told.
  var revision: String? { body["rev"]?.text }
  var since: String? { body["since"]?.text }

  /// Takes the records from the commit's own blocks, as far as they are there and can be read.
  mutating func takeRecords(from blocks: [UInt8]) {
    guard let changes, !blocks.isEmpty else { return }
    var wanted: [[UInt8]: [Int]] = [:]
    for (index, change) in changes.enumerated() where change.hasRecord {
      if let cid = change.cid?.bytes { wanted[cid, default: []].append(index) }
    }
    // What is damaged is asked for.
    blocks.withUnsafeBytes { bytes in
      guard !wanted.isEmpty, var car = try? CARBlocks(bytes) else { return }
      while let (cid, content) = (try? car.next()) ?? nil {
        guard let places = wanted[cid], CID(of: content).bytes == cid else { continue }
        var reader = CBORReader(content)
        guard let record = try? reader.next(), reader.isAtEnd else { continue }
        for place in places { self.changes?[place].value = Array(record.recordJSON.utf8) }
      }
    }
  }

  var owner: String? { body["repo"]?.text ?? body["did"]?.text }

  var data: [UInt8] {
    var text = RecordText().number("op", 1).string("t", name).string(
      "by", isPolled ? "poll" : "push")
    guard case .map(let members) = body else { return text.bytes }
    for member in members where !["op", "t", "by"].contains(member.name) {
      if member.name == "ops", let changes {
        text = text.objects("ops", changes.map(\.text))
      } else {
        // A name needs no escapes, except one that nobody gives.
        let name = Array(JSONQuote.string(member.name).utf8.dropFirst().dropLast())
        text = text.json(String(decoding: name, as: UTF8.self), member.value.json)
      }
    }
    return text.bytes
  }
}

struct RecordListing {
  /// The record of each path by the list before; nil before the first.
  private var known: [String: CID]?
  private var found: [String: CID] = [:]
  /// Those of the list that is being read of which the record is another than before.
  private var fresh: [String: [UInt8]] = [:]

  /// `tellsAll`: whether all that the first list has counts as new.
  init(tellsAll: Bool) { known = tellsAll ? [:] : nil }

  /// Whether the list did not have the record yet.
  mutating func receive(_ path: String, _ cid: CID, _ value: @autoclosure () -> [UInt8]?) -> Bool {
    guard found.updateValue(cid, forKey: path) == nil else { return false }
    if let known, known[path] != cid { fresh[path] = value() }
    return true
  }

  mutating func restart() { (found, fresh) = ([:], [:]) }

  /// What changed, sorted by path; nothing for the first list.
  mutating func finish() -> [FirehoseChange] {
    defer {
      known = found
      restart()
    }
    guard let known else { return [] }
    let paths =
      found.keys.filter { known[$0] != found[$0] } + known.keys.filter { found[$0] == nil }
    return paths.sorted().compactMap { path in
      let (cid, before) = (found[path], known[path])
      let action = before == nil ? "create" : cid == nil ? "delete" : "update"
      var members: [CBORValue.Member] = [
        .init(name: "action", value: .text(action)), .init(name: "path", value: .text(path)),
        .init(name: "cid", value: cid.map(CBORValue.link) ?? .null),
      ]
      if let before { members.append(.init(name: "prev", value: .link(before))) }
      var change = FirehoseChange(.map(members))
      change?.value = fresh[path]
      return change
    }
  }
}

extension PDSAccess {
  /// The stream of what changes in a repository.
  ///
  /// - Parameters:
  ///   - given: whose; nil for the profile's identifier.
  ///   - collections: of which changes are wanted; none for all.
  ///   - from: the number behind which it begins; nil for now.
  ///   - limits: how long it may take to look a handle up for a new state file; the stream
  ///     itself takes as long as its policy says.
  /// - Throws: `Failure` when nobody is named, for a state file of something else, or a new one for
  ///   a handle that is not to be looked up.
  public func stream(
    of given: Repository?, _ collections: [NSID], from: Int64?, state: ResumeFile?,
    _ limits: PDSLimits, _ diagnostics: Diagnostics
  ) throws(Failure) -> FollowedStream {
    // The same by its DID, where that is known: a handle may have changed.
    let asked = try PDSRecords(self, repository: given, limits, diagnostics).repository()
    let repository = given ?? server.identifier ?? asked
    let resume = try state.map { file throws(Failure) in
      let records = PDSRecords(self, repository: asked, limits, diagnostics)
      let point = try ResumePoint(
        file, source: source(try owner(of: repository, records, file.path)))
      let id = point.state.lastEventID
      guard id.isEmpty || Int64(id) != nil else {
        throw Failure(file.path, "its event id is no number")
      }
      return point
    }
    // What cannot be asked for is known before the first connection.
    _ = try server.request("com.atproto.sync.subscribeRepos")
    var stream = FollowedStream(server.base.display, resume: resume) { follow in
      Firehose(
        follow, PDSVisit(self, diagnostics), repository, asked, collections, state: state?.path
      ) { did in
        guard let known = resume?.state.source, known != source(did) else { return nil }
        return "\(repository) is \(did) now, and the state that of \(known)"
      }.run
    }
    stream.isNumbered = true
    if stream.lastEventID.isEmpty { stream.lastEventID = from.map { String($0) } ?? "" }
    return stream
  }

  private func source(_ did: DID) -> String { "repository \(did) of \(server.base.display)" }

  /// Whose events a state file is to be of. A handle that is in use already need not be looked
  /// up now: that the server may be away is the stream's affair.
  private func owner(
    of repository: Repository, _ records: PDSRecords, _ path: String
  ) throws(Failure) -> DID {
    if let did = repository.did { return did }
    if let bytes = try StateFile(path: path).read(), let found = FollowState(bytes) {
      let words = found.source.split(separator: " ")
      if words.count > 1, let did = DID(String(words[1])), found.source == source(did) {
        return did
      }
    }
    let found: [UInt8]?
    do throws(Failure) { found = try records.describe() } catch {
      throw Failure(repository.description, error.message, error.status)
    }
    guard let did = found.flatMap({ ScanMembers.text(of: "did", in: $0) }).flatMap({ DID($0) })
    else { throw Failure(repository.description, "no such repository", .negative) }
    return did
  }
}
