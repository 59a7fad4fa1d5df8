import CLibc
import Core
import Frames
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
