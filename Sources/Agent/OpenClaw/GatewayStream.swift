import Core
import Records
import Turns
import Web

/// The events of a gateway as a stream (agentutils-records(5), "event"): the name of the
/// frame's event, its number as the id, its payload as it came. Numbers tell what was lost. A
/// gateway repeats no event, but what was kept of the conversations meanwhile is fetched, and
/// printed as `chat.history` (Agent/OpenClaw/CONTRACT.md 2).
final class GatewayStream {
  private let follow: Follow
  private let server: AgentServer
  private let auth: GatewayAuth
  private let thread: String?
  private var key: String?
  /// The replies that are under way: of these the text is fetched after a loss.
  private var running = RunBook()
  private var places = RowBook()
  /// When the first connection was made, and when something came last, seconds since 1970.
  private var (begun, heard): (Double?, Double) = (nil, 0)
  /// Since when something may be missing; nil when nothing is.
  private var behind: Double?
  private var holes = 0

  /// The most rows of a conversation that are fetched where it is not known which are missing.
  private static let mostRows = 200

  init(_ follow: Follow, _ keys: GatewayKeys, thread: String?, waits: Bool) {
    (self.follow, server, self.thread) = (follow, keys.server, thread)
    auth = GatewayAuth(
      keys,
      GatewayAuth.Wishes(scopes: [.read], caps: ["tool-events"], waitsForPairing: waits))
  }

  func run() throws(LinkEnd) -> Never {
    let gateway = try Gateway.connect(follow, auth, server)
    places.forgetRequests()
    key = thread.map { gateway.hello.sessionKey(thread: $0, agent: nil) }
    if let reason = GatewayLists.fault(key: key ?? "") {
      throw .failed(Failure(reason, .failure))
    }
    follow.opened(follow.place)
    subscribe(gateway)
    if begun == nil {
      begun = Clock.unix
      if let key { mark(gateway, key) }
    } else {
      behind = behind ?? heard
    }
    heard = Clock.unix
    while true {
      if let since = behind { try catchUp(gateway, since) }
      try hear(gateway)
    }
  }

  private func subscribe(_ gateway: Gateway) {
    let hello = gateway.hello
    if hello.knows("sessions.subscribe") {
      gateway.ask("sessions.subscribe")
    }
    let keys = key.map { [$0] } ?? running.sessions
    for key in keys where hello.knows("sessions.messages.subscribe") {
      gateway.ask("sessions.messages.subscribe", RecordText().string("key", key))
    }
  }

  // MARK: - What comes

  /// Takes what comes next.
  ///
  /// - Returns: the payload of the answer to `number`, empty where it was refused or is late; nil
  ///   for anything else.
  @discardableResult
  private func hear(_ gateway: Gateway, for number: Int? = nil) throws(LinkEnd) -> [UInt8]? {
    switch try gateway.receive() {
    case .event(let event): try hear(event, gateway)
    case .missed(let numbers):
      follow.missed(numbers)
      behind = behind ?? heard
      holes += 1
    case .reply(let other, let reply):
      var payload: [UInt8] = []
      if case .answer(let value) = reply { payload = Array(value.bytes) }
      if other == number { return payload }
      places.marked(other, payload)
    case nil: break
    }
    return nil
  }

  /// Waits for an answer; what comes in front of it is printed.
  private func ask(
    _ gateway: Gateway, _ method: String, _ params: RecordText
  ) throws(LinkEnd) -> [UInt8] {
    let number = gateway.ask(method, params)
    while true {
      if let payload = try hear(gateway, for: number) { return payload }
    }
  }

  private func hear(_ event: GatewayEvent, _ gateway: Gateway) throws(LinkEnd) {
    heard = Clock.unix
    let id = event.seq.map { Array(String($0).utf8) } ?? []
    // What keeps a connection alive is no news.
    if event.name == "tick" || !isWanted(event) { return }
    note(event)
    let payload = event.payload
    if event.name == "session.message", let session = event.member("sessionKey"),
      let row = event.member("messageId")
    {
      // It may stand in what was fetched just now.
      guard places.note(row, of: session, bytes: payload.count) else { return }
      if places.isStale(session) { mark(gateway, session) }
    }
    try follow.print(
      HeldEvent(
        type: Array(event.name.utf8), id: id,
        data: payload.isAbsent ? Array("null".utf8) : Array(payload.bytes)))
  }

  private func note(_ event: GatewayEvent) {
    // A run may say nothing for long, and only work with its tools.
    guard let run = event.member("runId"), let session = event.member("sessionKey") else { return }
    if event.name == "chat", ["final", "aborted", "error"].contains(event.member("state")) {
      running.end(run)
    } else {
      running.see(run, of: session)
    }
  }

  /// Whether an event is of the conversation that is followed.
  private func isWanted(_ event: GatewayEvent) -> Bool {
    guard let key else { return true }
    return key == event.member("sessionKey") ?? event.member("key")
      ?? event.object?["request"]?["sessionKey"]?.string
  }

  // MARK: - What was missed

  /// Asks how far a conversation is.
  private func mark(_ gateway: Gateway, _ session: String) {
    guard gateway.hello.knows("chat.history") else { return }
    places.ask(
      session,
      gateway.ask("chat.history", GatewayLists.history(session, count: 1, isWhole: false)))
  }

  /// Prints what happened since then, seconds since 1970.
  private func catchUp(_ gateway: Gateway, _ since: Double) throws(LinkEnd) {
    let known = holes
    let edge = max(
      gateway.hello.since(Int64(since * 1000)),
      Int64((begun ?? 0) * 1000) + (gateway.hello.ahead ?? 0))
    var sessions = key.map { [$0] } ?? running.sessions
    if key == nil {
      let payload = try ask(gateway, "sessions.list", RecordText())
      let list = try? JSONValue.parse(payload)
      for row in list?["sessions"]?.elements ?? [] {
        guard let session = row["key"]?.string, !sessions.contains(session),
          row["updatedAt"]?.integer ?? edge >= edge
        else { continue }
        sessions.append(session)
      }
    }
    for session in sessions { try fetch(gateway, session, behind: edge) }
    if holes == known { behind = nil }
  }

  private func fetch(
    _ gateway: Gateway, _ session: String, behind edge: Int64
  ) throws(LinkEnd) {
    var news: MissedRows?
    if let cursor = places.cursor(of: session) {
      let params = RecordText().string("sessionKey", session).string("cursor", cursor)
      news = MissedRows(delta: try ask(gateway, "chat.history", params))
    }
    if news == nil {
      let isWhole = gateway.hello.knows("chat.message.get")
      let params = GatewayLists.history(session, count: Self.mostRows, isWhole: isWhole)
      news = MissedRows(page: try ask(gateway, "chat.history", params), since: edge)
    }
    guard var news else { return report(session) }
    news.rows.removeAll { places.hasSeen($0.id) }
    for index in news.rows.indices where news.rows[index].isCut {
      let params = RecordText().string("sessionKey", session)
        .string("messageId", news.rows[index].id)
      let whole = try ask(gateway, "chat.message.get", params)
      if !news.rows[index].complete(whole) {
        follow.fault("\(session): the gateway gave a part of a message")
      }
    }
    if !news.isWhole { report(session) }
    places.set(session, news)
    let wasRunning = running.sessions.contains(session)
    if let active = news.active { running.keep(active, of: session) }
    if news.rows.isEmpty, news.flight == nil, !wasRunning { return }
    try follow.print(HeldEvent(type: Array("chat.history".utf8), data: news.payload(session)))
  }

  private func report(_ session: String) {
    follow.report(
      StreamGap(
        after: Timestamp(milliseconds: Int64((behind ?? heard) * 1000))?.rfc3339,
        parts: [(session, RecordText().string("thread", session).text)]))
  }
}

/// Rows of a conversation that were not heard live, as the gateway keeps them.
struct MissedRows {
  struct Row {
    let id: String
    var isCut: Bool
    var bytes: [UInt8]

    /// Takes the answer to `chat.message.get`.
    ///
    /// - Returns: whether that was all of the row.
    mutating func complete(_ answer: [UInt8]) -> Bool {
      answer.withUnsafeBytes { answer in
        guard let value = try? ScanMembers.value(of: "message", in: answer), value.isObject,
          let object = try? JSONValue.parse(value.bytes), let row = OpenClawRow(object), !row.isCut
        else { return false }
        (bytes, isCut) = (Array(value.bytes), false)
        return true
      }
    }
  }

  var rows: [Row] = []
  /// Whether no others can be missing.
  private(set) var isWhole = true
  let cursor: String?
  /// The runs that are at work; nil where the gateway does not say.
  let active: [String]?
  /// What is said of the run at work, and of the conversation; nil where nothing is.
  let (flight, info): ([UInt8]?, [UInt8]?)
  private let hasMore: Bool

  /// What came behind a cursor; nil where the gateway gives no such thing for it.
  init?(delta answer: [UInt8]) {
    self.init(answer) {
      $0["kind"]?.string == "delta"
    } row: { message in
      (try? ScanMembers.value(of: "message", in: message)) ?? .absent
    }
  }

  /// The last rows, of which those count that are not older than `edge`, milliseconds since 1970.
  init?(page answer: [UInt8], since edge: Int64) {
    self.init(answer) {
      $0["messages"] != nil
    } row: {
      ScanValue($0)
    }
    let count = rows.count
    rows.removeAll { row in
      let time = row.bytes.withUnsafeBytes { (try? JSONValue.parse($0)).flatMap(Self.time) }
      return time.map { $0 < edge } ?? false
    }
    isWhole = rows.count < count || !hasMore
  }

  private init?(
    _ answer: [UInt8], if isRight: (JSONValue) -> Bool,
    row: (UnsafeRawBufferPointer) -> ScanValue
  ) {
    guard let object = try? JSONValue.parse(answer), isRight(object)
    else { return nil }
    cursor = object["deltaCursor"]?.string
    active = GatewayHistory(object, key: "").active
    hasMore = object["hasMore"]?.bool == true
    func part(_ name: String) -> [UInt8]? {
      object[name]?.isObject == true ? ScanMembers.copy(of: name, in: answer) : nil
    }
    (flight, info) = (part("inFlightRun"), part("sessionInfo"))
    for element in answer.withUnsafeBytes({ GatewayLists.elements("messages", in: ScanValue($0)) })
    {
      element.withUnsafeBytes { element in
        let value = row(element)
        guard value.isObject, let object = try? JSONValue.parse(value.bytes),
          let known = OpenClawRow(object)
        else { return }
        rows.append(Row(id: known.id ?? "", isCut: known.isCut, bytes: Array(value.bytes)))
      }
    }
  }

  /// When a row was written, milliseconds since 1970.
  private static func time(_ row: JSONValue) -> Int64? {
    row["__openclaw"]?["recordTimestampMs"]?.integer ?? row["timestamp"]?.integer
  }

  func payload(_ session: String) -> [UInt8] {
    RecordText().string("sessionKey", session).list("messages", rows.map(\.bytes))
      .json("inFlightRun", bytes: flight).json("sessionInfo", bytes: info).bytes
  }
}

/// How far the conversations are: behind a cursor of the gateway's stand the rows that are missing,
/// and those that were heard since it was given.
struct RowBook {
  private struct Place {
    var cursor: String?
    /// The rows since then, and their size, bytes.
    var (rows, bytes) = (0, 0)
    /// The number of the request for a new one.
    var request: Int?
    var used = 0
  }

  private var places: [String: Place] = [:]
  private var seen = RecentIDs<String>(most: 4096)
  private var uses = 0

  /// How many conversations are remembered.
  private static let mostPlaces = 256
  /// A gateway says of up to 200 rows of a megabyte what came behind a cursor.
  private static let (mostRows, mostBytes) = (50, 250_000)

  func cursor(of session: String) -> String? { places[session]?.cursor }

  func hasSeen(_ row: String) -> Bool { !row.isEmpty && seen.contains(row) }

  /// Notes a row.
  ///
  /// - Returns: whether it is new.
  mutating func note(_ row: String, of session: String, bytes: Int) -> Bool {
    guard seen.insert(row) else { return false }
    use(session) {
      $0.rows += 1
      $0.bytes += bytes
    }
    return true
  }

  /// Whether a new cursor is to be asked for.
  func isStale(_ session: String) -> Bool {
    guard let place = places[session], place.request == nil else { return false }
    return place.cursor == nil || place.rows >= Self.mostRows || place.bytes >= Self.mostBytes
  }

  mutating func ask(_ session: String, _ request: Int) { use(session) { $0.request = request } }

  /// Takes the answer to such a request. A row that was not heard yet would be behind no cursor.
  mutating func marked(_ request: Int, _ answer: [UInt8]) {
    guard let session = places.first(where: { $0.value.request == request })?.key else { return }
    let page = MissedRows(page: answer, since: .min)
    use(session) { $0.request = nil }
    guard let page, let cursor = page.cursor else { return }
    let isFirst = places[session]?.rows == 0
    guard isFirst || page.rows.allSatisfy({ hasSeen($0.id) }) else { return }
    use(session) { ($0.cursor, $0.rows, $0.bytes) = (cursor, 0, 0) }
  }

  mutating func set(_ session: String, _ news: MissedRows) {
    for row in news.rows { _ = seen.insert(row.id) }
    use(session) { ($0.cursor, $0.rows, $0.bytes) = (news.cursor, 0, 0) }
  }

  /// What was asked on a connection that is gone has no answer.
  mutating func forgetRequests() {
    for session in places.keys { places[session]?.request = nil }
  }

  private mutating func use(_ session: String, _ change: (inout Place) -> Void) {
    if places[session] == nil, places.count >= Self.mostPlaces,
      let oldest = places.min(by: { $0.value.used < $1.value.used })?.key
    {
      places[oldest] = nil
    }
    uses += 1
    places[session, default: Place()].used = uses
    change(&places[session, default: Place()])
  }
}

/// The runs whose ends were not seen yet; the oldest are forgotten when there are too many.
struct RunBook {
  private static let most = 256

  private var running: [(run: String, session: String)] = []
  /// What ended just now: behind its end a run still tells of itself.
  private var ended = RecentIDs<String>(most: most)

  var sessions: [String] { Set(running.map(\.session)).sorted() }

  mutating func see(_ run: String, of session: String) {
    if ended.contains(run) || running.contains(where: { $0.run == run }) { return }
    running.append((run, session))
    if running.count > Self.most { running.removeFirst() }
  }

  mutating func end(_ run: String) {
    running.removeAll { $0.run == run }
    _ = ended.insert(run)
  }

  /// Of a session no others are under way.
  mutating func keep(_ active: [String], of session: String) {
    running.removeAll { $0.session == session && !active.contains($0.run) }
  }
}

extension GatewayEvent {
  func member(_ name: String) -> String? {
    guard payload.isObject, let value = try? ScanMembers.value(of: name, in: payload.bytes),
      value.isString
    else { return nil }
    return value.string
  }
}
