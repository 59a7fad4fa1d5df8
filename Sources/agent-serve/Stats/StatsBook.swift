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

  /// A reply of the last day: what it told, nil when it told nothing.
  struct Sample: Sendable {
    let createdAt: String
    let kind: String
    let performance: ReplyPerformance?
  }

  /// Milliseconds since 1970 by kind, ascending: eight bytes an action, for a day.
  private var times = [[Int]](repeating: [], count: kinds.count)
  private var costs: Costs
  private(set) var guilds: [String: Costs] = [:]
  private(set) var samples: [Sample] = []
  private(set) var lastBotMessageAt: String?
  private(set) var lastActionAt: String?

  init(_ costs: Costs = Costs()) { self.costs = costs }

  mutating func add(_ action: LoggedAction) {
    addCost(createdAt: action.createdAt, usd: action.usd, guild: action.guild)
    addTime(kind: action.kind, createdAt: action.createdAt)
    if ReplyPerformance.kinds.contains(action.kind) {
      addSample(
        Sample(
          createdAt: action.createdAt, kind: action.kind,
          performance: ReplyPerformance(metadata: action.metadata)))
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
  mutating func addSample(_ sample: Sample) { samples.append(sample) }

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
