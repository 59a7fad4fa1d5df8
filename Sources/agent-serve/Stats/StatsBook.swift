import Core

/// What `GET /api/stats` counts, kept up to date action by action: no action
/// costs more because many came before it.
struct StatsBook: Sendable {
  /// The kinds of `stats.last24h`, in the dashboard's order.
  static let kinds = [
    "sent_reply", "sent_message", "initiative_post", "reacted", "llm_call", "image_call",
    "gif_call", "search_call", "video_context_call", "asr_call", "voice_session_start",
    "voice_session_end", "voice_intent_detected", "voice_turn_in", "voice_turn_out",
    "voice_soundboard_play", "voice_error",
  ]
  static let sampleLimit = 4000
  private static let kindIndex = Dictionary(
    uniqueKeysWithValues: kinds.enumerated().map { ($1, $0) })

  /// Milliseconds since 1970 by kind, ascending: eight bytes an action, for a day.
  private var times = [[Int]](repeating: [], count: kinds.count)
  private var costs: Costs
  private(set) var guilds: [String: Costs] = [:]
  /// The replies of the last day; with no performance where one told nothing.
  private var samples: [(createdAt: String, kind: String, performance: ReplyPerformance?)] = []
  private(set) var lastBotMessageAt: String?
  private(set) var lastActionAt: String?

  init(_ costs: Costs = Costs()) { self.costs = costs }

  mutating func add(_ action: LoggedAction) {
    addCost(createdAt: action.createdAt, usd: action.usd, guild: action.guild)
    addTime(kind: action.kind, createdAt: action.createdAt)
    if ReplyPerformance.kinds.contains(action.kind) {
      addReply(action.createdAt, action.kind, action.metadata)
    }
  }

  /// What a book no longer counts of actions that were deleted: to count all the others anew
  /// would take seconds in a large store, in which nobody could write.
  typealias Loss = (
    costs: [(createdAt: String, usd: Double, guild: String?)], lastActionAt: String?
  )

  static func delete(_ ids: [Int64], _ db: Database) throws -> Loss {
    var loss: Loss = ([], nil)
    for id in ids {
      let row = try db.rows(sql: "\(ActionStore.columns) WHERE id = ?", arguments: [id]).next()
      guard let action = row.map(StoredAction.init(row:))?.action else { continue }
      try db.execute(sql: "DELETE FROM actions WHERE id = ?", arguments: [id])
      loss.costs.append((action.createdAt, action.usd, action.guild))
    }
    loss.lastActionAt = try db.value(String.self, sql: "SELECT max(created_at) FROM actions")
    return loss
  }

  mutating func subtract(_ loss: Loss) {
    for (createdAt, usd, guild) in loss.costs {
      costs.subtract(createdAt, usd)
      guard let guild else { continue }
      guilds[guild]?.subtract(createdAt, usd)
      if guilds[guild]?.days.isEmpty == true { guilds[guild] = nil }
    }
    lastActionAt = loss.lastActionAt
  }

  mutating func addCost(createdAt: String, usd: Double, guild: String?) {
    costs.add(createdAt, usd)
    if let guild { guilds[guild, default: Costs()].add(createdAt, usd) }
    if createdAt > lastActionAt ?? "" { lastActionAt = createdAt }
  }

  mutating func addTime(kind: String, createdAt: String) {
    guard let index = Self.kindIndex[kind] else { return }
    if kind == "sent_reply" || kind == "sent_message" || kind == "initiative_post" {
      lastBotMessageAt = max(lastBotMessageAt ?? "", createdAt)
    }
    let time = Self.milliseconds(createdAt)
    if time >= times[index].last ?? .min {
      times[index].append(time)
    } else {
      times[index].insert(time, at: Self.first(in: times[index], from: time))
    }
  }

  /// Counts a reply's durations; replies come in the order of their ids.
  mutating func addReply(_ createdAt: String, _ kind: String, _ metadata: String?) {
    samples.append((createdAt, kind, ReplyPerformance(metadata: metadata)))
  }

  mutating func noteBotMessage(at time: String) {
    lastBotMessageAt = max(lastBotMessageAt ?? "", time)
  }

  /// Forgets what is older than the windows; called now and then.
  mutating func prune(since: String) {
    let time = Self.milliseconds(since)
    for index in times.indices where times[index].first ?? time < time {
      times[index].removeFirst(Self.first(in: times[index], from: time))
    }
    if samples.count > Self.sampleLimit * 2 {
      samples = Array(samples.filter { $0.createdAt >= since }.suffix(Self.sampleLimit))
    }
  }

  /// The counts of the last 24 hours by kind, in the order of `kinds`.
  func counts(since: String) -> [Int] {
    let time = Self.milliseconds(since)
    return times.map { $0.count - Self.first(in: $0, from: time) }
  }

  /// US dollars over all actions.
  var totalCost: Double { costs.total.value }

  /// The cost of the newest 14 days that have actions, newest first.
  func dailyCost(since: String) -> [(day: String, usd: Double)] {
    costs.days.filter { $0.key >= since }.sorted { $0.key > $1.key }.prefix(14)
      .map { ($0.key, $0.value.usd.value) }
  }

  /// The position of the first time that is not before `time`.
  private static func first(in times: [Int], from time: Int) -> Int {
    var low = 0
    var high = times.count
    while low < high {
      let middle = (low + high) / 2
      if times[middle] < time { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private static func milliseconds(_ text: String) -> Int {
    Timestamp(rfc3339: text)?.milliseconds ?? 0
  }
}

struct Costs: Sendable {
  private(set) var total = PreciseSum()
  private(set) var days: [String: (usd: PreciseSum, count: Int)] = [:]

  mutating func add(_ createdAt: String, _ usd: Double) { count(createdAt, usd, 1) }

  mutating func subtract(_ createdAt: String, _ usd: Double) { count(createdAt, -usd, -1) }

  private mutating func count(_ createdAt: String, _ usd: Double, _ actions: Int) {
    total.add(usd)
    let day = String(createdAt.prefix(10))
    var known = days[day] ?? (PreciseSum(), 0)
    known.usd.add(usd)
    known.count += actions
    days[day] = known.count > 0 ? known : nil
  }
}

struct MetricSummary {
  let count: Int
  /// Smallest, median, 95th percentile (nearest rank), mean and largest, in
  /// milliseconds; nil when there is no value.
  let figures: (min: Double, p50: Double, p95: Double, average: Double, max: Double)?

  init(_ values: [Double]) {
    let sorted = values.sorted()
    count = sorted.count
    guard let first = sorted.first, let last = sorted.last else {
      figures = nil
      return
    }
    func rank(_ part: Double) -> Double {
      sorted[min(max(Int((Double(sorted.count) * part).rounded(.up)) - 1, 0), sorted.count - 1)]
    }
    let mean = sorted.reduce(0, +) / Double(sorted.count)
    figures = (first, rank(0.5), rank(0.95), Self.tenths(mean), last)
  }

  /// Rounded to one decimal as JavaScript's `toFixed` does: by what the number is, not by what
  /// ten times it is rounded to (1.45 is a little less than that, and gives 1.4).
  static func tenths(_ value: Double) -> Double {
    let product = value * 10
    let lost = (-product).addingProduct(value, 10)
    let whole = product.rounded(.down)
    let rest = product - whole
    return (rest > 0.5 || rest == 0.5 && lost >= 0 ? whole + 1 : whole) / 10
  }

  var json: String {
    guard let figures else {
      return #"{"count":0,"minMs":null,"p50Ms":null,"p95Ms":null,"avgMs":null,"maxMs":null}"#
    }
    let number = JSONText.number
    return """
      {"count":\(count),"minMs":\(number(figures.min)),"p50Ms":\(number(figures.p50)),\
      "p95Ms":\(number(figures.p95)),"avgMs":\(number(figures.average)),\
      "maxMs":\(number(figures.max))}
      """
  }
}

/// A sum of many small amounts that does not drift (Neumaier's form of Kahan's
/// summation): 0.0752 + 0.0021 stays 0.0773 whatever came between.
struct PreciseSum: Sendable, Equatable {
  private var sum = 0.0
  private var lost = 0.0

  mutating func add(_ value: Double) {
    let total = sum + value
    lost += abs(sum) >= abs(value) ? (sum - total) + value : (value - total) + sum
    sum = total
  }

  var value: Double { sum + lost }
}

final class StatsKeeper: Sendable {
  private struct State {
    var book: StatsBook
    var version = 0
    var cached: (version: Int, documents: Int, at: Timestamp, json: String)?
  }

  private let state: Guarded<State>
  private let documents: Documents

  init(_ book: StatsBook, documents: Documents) {
    state = Guarded(State(book: book))
    self.documents = documents
  }

  var version: Int { state.withLock { $0.version } }

  func add(_ actions: [LoggedAction]) {
    state.withLock { state in
      for action in actions { state.book.add(action) }
      state.version += 1
    }
  }

  func subtract(_ loss: StatsBook.Loss) {
    state.withLock { state in
      state.book.subtract(loss)
      state.version += 1
    }
  }

  /// Made anew after an action or a document, and each second, since the windows move.
  func json(now: Timestamp) -> String {
    state.withLock { state in
      let told = documents.version
      if let cached = state.cached, cached.version == state.version, cached.documents == told,
        cached.at.seconds == now.seconds
      {
        return cached.json
      }
      state.book.prune(since: now.before(hours: 24).rfc3339)
      let json = state.book.json(runtime: state.book.runtime(documents), now: now)
      state.cached = (state.version, told, now, json)
      return json
    }
  }

  func costs(of guild: String) -> Costs { state.withLock { $0.book.guilds[guild] ?? Costs() } }

  func json(guild: StatsBook, now: Timestamp) -> String {
    guild.json(runtime: state.withLock { $0.book.runtime(documents) }, now: now)
  }
}

extension StatsBook {
  /// Counts what the store holds: when the server starts, or for one guild.
  static func load(
    _ db: Database, guild: (id: String, costs: Costs)?, now: Timestamp
  ) throws -> StatsBook {
    var book = StatsBook(guild?.costs ?? Costs())
    let since = now.before(hours: 24).rfc3339
    let filter = guild == nil ? "?1 IS NULL" : "guild_id = ?1"
    if guild == nil {
      let costs = try db.rows(sql: "SELECT created_at, usd_cost, guild_id FROM actions")
      while let row = try costs.next() {
        let cost: String? = row[1]
        let usd = cost.flatMap { Double($0) } ?? 0
        book.addCost(createdAt: row[0], usd: usd.isFinite ? usd : 0, guild: row[2])
      }
    }
    let guild = guild?.id
    let times = try db.rows(
      sql: "SELECT kind, created_at FROM actions WHERE \(filter) AND created_at >= ?2",
      arguments: [guild, since])
    while let row = try times.next() { book.addTime(kind: row[0], createdAt: row[1]) }
    let replies = ReplyPerformance.kinds.map { "'\($0)'" }.joined(separator: ",")
    let samples = try db.rows(
      sql: """
        SELECT created_at, kind, metadata FROM
          (SELECT id, created_at, kind, metadata FROM actions
           WHERE \(filter) AND created_at >= ?2 AND kind IN (\(replies))
           ORDER BY id DESC LIMIT \(sampleLimit))
        ORDER BY id
        """, arguments: [guild, since])
    while let row = try samples.next() { book.addReply(row[0], row[1], row[2]) }
    let newest = try db.value(
      String.self,
      sql: """
        SELECT max(created_at) FROM actions
        WHERE \(filter) AND kind IN ('sent_reply', 'sent_message', 'initiative_post')
        """, arguments: [guild])
    if let newest { book.noteBotMessage(at: newest) }
    return book
  }
}

extension StatsBook {
  /// The payload of `GET /api/stats` and `stats_update` (Agent/Clanky/CONTRACT.md 5.1).
  func json(runtime: String, now: Timestamp) -> String {
    let since = now.before(hours: 24).rfc3339
    let counts = zip(Self.kinds, counts(since: since))
      .map { "\"\($0)\":\($1)" }.joined(separator: ",")
    let days = dailyCost(since: String(now.before(hours: 14 * 24).rfc3339.prefix(10)))
      .map { "{\"day\":\"\($0.day)\",\"usd\":\(JSONText.number($0.usd))}" }
      .joined(separator: ",")
    return """
      {"stats":{"last24h":{\(counts)},"totalCostUsd":\(JSONText.number(totalCost)),\
      "dailyCost":[\(days)],"performance":\(performance(since: since))},\
      "runtime":\(runtime)}
      """
  }

  private func performance(since: String) -> String {
    let names = ReplyPerformance.members
    var values = [[Double]](repeating: [], count: names.count)
    var byKind: [String: Int] = [:]
    let samples = samples.reversed().lazy.filter { $0.createdAt >= since }
    for sample in samples.prefix(Self.sampleLimit) {
      guard let performance = sample.performance else { continue }
      byKind[sample.kind, default: 0] += 1
      for (index, value) in performance.values.enumerated() {
        if let value { values[index].append(value) }
      }
    }
    let kinds = ReplyPerformance.kinds.map { "\"\($0)\":\(byKind[$0] ?? 0)" }
      .joined(separator: ",")
    let metrics = zip(names, values).map { "\"\($0)\":\(MetricSummary($1).json)" }
    return """
      {"windowHours":24,"sampleLimit":\(Self.sampleLimit),"sampleCount":\(values[0].count),\
      "byKind":{\(kinds)},\(metrics[0]),\(metrics[1]),\
      "phases":{\(metrics[2...].joined(separator: ","))}}
      """
  }

  /// There is no bot here: what it alone would know is empty.
  func runtime(_ documents: Documents) -> String {
    // The guilds that the agent told, or else those that were ever seen.
    let told = documents.has(.guilds) ? Guilds(documents.bytes(.guilds)).all.count : nil
    return """
      {"isReady":true,"userTag":null,"guildCount":\(told ?? guilds.count),\
      "lastBotMessageAt":\(JSONText.quoted(lastBotMessageAt)),\
      "replyQueue":{"channels":0,"pending":0},\
      "gateway":{"hasConnectedAtLeastOnce":true,"reconnectInFlight":false,"reconnectAttempts":0,\
      "lastGatewayEventAt":\(JSONText.quoted(lastActionAt))},\
      "voice":\(documents.line(.voiceState)),\
      "publicHttps":\(documents.line(.publicHTTPS)),"screenShare":null}
      """
  }
}

/// The durations that a reply tells in `metadata.performance`.
struct ReplyPerformance: Sendable, Equatable {
  static let kinds = ["sent_reply", "sent_message", "reply_skipped"]
  static let members = [
    "totalMs", "processingMs", "queueMs", "ingestMs", "memorySliceMs", "llm1Ms", "followupMs",
    "typingDelayMs", "sendMs",
  ]

  /// Whole milliseconds, nil where none was told.
  var values = [Double?](repeating: nil, count: members.count)

  init?(metadata: String?) {
    guard var metadata, metadata.utf8.count > 13 else { return nil }
    let values = metadata.withUTF8 { bytes -> [Double?]? in
      do throws(ScanFault) {
        let performance = try ScanMembers.value(
          of: "performance", in: UnsafeRawBufferPointer(bytes))
        guard performance.isObject else { return nil }
        var values = [Double?](repeating: nil, count: Self.members.count)
        var members = try ScanMembers(performance.bytes)
        while try members.next() {
          guard let index = Self.members.firstIndex(of: members.key.unescaped) else { continue }
          let number = Self.number(members.value)
          values[index] = number.flatMap { $0.isFinite && $0 >= 0 ? $0.rounded() : nil }
        }
        return values
      } catch {
        return nil
      }
    }
    guard let values else { return nil }
    self.values = values
  }

  /// `Number(value)`: null counts as 0, unlike a member that is not there.
  private static func number(_ value: ScanValue) -> Double? {
    if value.isNull { return 0 }
    return value.isString
      ? value.string.flatMap(Double.init(javaScript:)) : ScanNumber(value)?.double
  }
}
