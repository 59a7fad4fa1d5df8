import CLibc
import Core
import Records

struct Tally {
  static let longestGap: Int64 = 10_000
  static let mostEmpty: Int64 = 100_000

  private struct Sums {
    var count = 0
    var cost = CostSum()

    @inline(__always)
    mutating func add(_ fields: ActionFields) {
      count += 1
      cost.add(fields.cost)
    }

    mutating func add(_ other: Sums) {
      count += other.count
      cost.add(other.cost)
    }
  }

  private struct Tokens {
    var input = CostSum()
    var output = CostSum()
    /// None or one: only the answers of transcripts have them.
    private(set) var details: [Details] = []

    mutating func add(_ usage: TokenUsage, _ fields: ActionFields, hasTitle: Bool) {
      input.add(usage.input)
      output.add(usage.output)
      if usage.details.isEmpty { return }
      if details.isEmpty { details.append(Details()) }
      details[0].add(usage, fields, hasTitle)
    }

    mutating func add(_ other: Tokens) {
      input.add(other.input)
      output.add(other.output)
      guard let theirs = other.details.first else { return }
      if details.isEmpty { details.append(theirs) } else { details[0].add(theirs) }
    }
  }

  private struct Details {
    /// As `TokenUsage.details`.
    var sums = [CostSum](repeating: CostSum(), count: TokenUsage.details.count)
    /// The models without a price.
    var unpriced: Set<String> = []
    /// Of the session that the group is of.
    var title: String?

    mutating func add(_ usage: TokenUsage, _ fields: ActionFields, _ hasTitle: Bool) {
      for index in sums.indices { sums[index].add(usage.details[index]) }
      if usage.isUnpriced { unpriced.insert(Tally.model.resolve(fields.metadata).string ?? "?") }
      if hasTitle, title == nil { title = Tally.title.resolve(fields.metadata).string }
    }

    mutating func add(_ other: Details) {
      for index in sums.indices { sums[index].add(other.sums[index]) }
      unpriced.formUnion(other.unpriced)
      title = title ?? other.title
    }
  }

  private let grouping: Grouping
  private let onlyKey: GroupKey?
  private var index = NameIndex()
  private var sums: [Sums] = []
  private var total = Sums()
  private var tokens: [Tokens] = []
  private var totalTokens = Tokens()
  /// The day of the prices of transcripts; nil where none were read.
  private var prices: String?
  private var buckets: TimeBuckets?
  /// The values of several keys, one behind the other, see `GroupName`.
  private var name: [UInt8] = []
  private(set) var hasOpenGap = false

  init(_ grouping: Grouping) {
    self.grouping = grouping
    buckets = grouping.time?.unit.map { TimeBuckets($0) }
    let isOnly = grouping.keys.count == 1 && buckets == nil
    onlyKey = isOnly && !grouping.hasTotal && !grouping.isUsage ? grouping.keys[0] : nil
  }

  mutating func add(_ fields: ActionFields, _ profile: ScanValue, _ scratch: ScanScratch) {
    if let onlyKey {
      let number = find(onlyKey, fields, profile, scratch)
      if number == sums.count { sums.append(Sums()) }
      sums[number].add(fields)
    } else {
      addAll(fields, profile, scratch)
    }
  }

  private mutating func addAll(
    _ fields: ActionFields, _ profile: ScanValue, _ scratch: ScanScratch
  ) {
    let usage = grouping.isUsage ? TokenUsage(fields.metadata) : nil
    if prices == nil, let date = usage?.prices, date.isString { prices = date.string }
    if grouping.hasTotal {
      total.add(fields)
      if let usage { totalTokens.add(usage, fields, hasTitle: false) }
    }
    let keys = grouping.keys
    if keys.isEmpty { return }
    let number: Int
    if keys.count > 1 || buckets != nil {
      name.removeAll(keepingCapacity: true)
      for key in keys { append(key, fields, profile, scratch) }
      number = name.withUnsafeBytes { index.find($0) }
    } else {
      number = find(keys[0], fields, profile, scratch)
    }
    if number == sums.count {
      sums.append(Sums())
      if usage != nil { tokens.append(Tokens()) }
    }
    sums[number].add(fields)
    if let usage { tokens[number].add(usage, fields, hasTitle: hasTitles) }
  }

  @inline(__always)
  private mutating func find(
    _ key: GroupKey, _ fields: ActionFields, _ profile: ScanValue, _ scratch: ScanScratch
  ) -> Int {
    guard key == .domain else { return index.find(text(of: key, fields, profile, scratch)) }
    var domain = Self.domain(of: fields, scratch)
    return domain.withUTF8 { index.find(UnsafeRawBufferPointer($0)) }
  }

  private mutating func append(
    _ key: GroupKey, _ fields: ActionFields, _ profile: ScanValue, _ scratch: ScanScratch
  ) {
    if key.unit != nil {
      let time = fields.time(scratch)
      GroupName.append(time.flatMap { buckets?.start(of: $0.seconds) }, to: &name)
    } else if key == .domain {
      GroupName.append(Self.domain(of: fields, scratch).utf8, to: &name)
    } else {
      GroupName.append(text(of: key, fields, profile, scratch), to: &name)
    }
  }

  private static func domain(of fields: ActionFields, _ scratch: ScanScratch) -> String {
    let kind = fields.kind.isString ? scratch.text(of: fields.kind) : .init(start: nil, count: 0)
    return ActionKind.domain(of: kind).rawValue
  }

  @inline(__always)
  private func text(
    of key: GroupKey, _ fields: ActionFields, _ profile: ScanValue, _ scratch: ScanScratch
  ) -> UnsafeRawBufferPointer? {
    let value: ScanValue
    switch key {
    case .kind: return fields.kind.isString ? scratch.text(of: fields.kind) : nil
    case .guild: value = fields.guild
    case .channel: value = fields.channel
    case .thread: value = ThreadTest.id(of: fields)
    case .profile: value = profile
    case .user: value = fields.user
    case .model:
      let model = Self.model.resolve(fields.metadata)
      value = model.isNull ? Self.responseModel.resolve(fields.metadata) : model
    case .agent: value = Self.agent.resolve(fields.metadata)
    case .provider: value = Self.provider.resolve(fields.metadata)
    case .session: value = ThreadTest.session.resolve(fields.metadata)
    case .project: value = Self.project.resolve(fields.metadata)
    case .subagent: value = Self.subagent.resolve(fields.metadata)
    case .domain, .minute, .hour, .day, .week, .month: return nil
    }
    return value.rawText.map { scratch.text(of: $0) }
  }

  private static let model = JSONPointer(member: "model")
  private static let responseModel = JSONPointer(member: "responseModel")
  private static let agent = JSONPointer(member: "agent")
  private static let provider = JSONPointer(member: "provider")
  private static let project = JSONPointer(member: "project")
  private static let subagent = JSONPointer(member: "subagent")
  private static let title = JSONPointer(member: "title")

  private var hasTitles: Bool { grouping.keys.contains(.session) }

  /// Adds what another tally by the same keys came to: all sums are exact, so that it does
  /// not matter which actions were counted where.
  mutating func add(_ other: Tally) {
    for number in other.sums.indices {
      let own = other.index.withName(number) { index.find($0) }
      if own == sums.count {
        sums.append(other.sums[number])
        if grouping.isUsage { tokens.append(other.tokens[number]) }
      } else {
        sums[own].add(other.sums[number])
        if grouping.isUsage { tokens[own].add(other.tokens[number]) }
      }
    }
    total.add(other.total)
    totalTokens.add(other.totalTokens)
    prices = prices ?? other.prices
  }

  mutating func clear() {
    index.clear()
    sums.removeAll(keepingCapacity: true)
    tokens.removeAll(keepingCapacity: true)
    (total, totalTokens) = (Sums(), Tokens())
  }

  // MARK: - What came of it

  /// Hands over a record for each group, and one for all if that is wanted:
  /// `{"type":"count","kind":"llm_call","count":2,"usd_cost":0.3}`.
  ///
  /// With a time they are in its order, a bucket without any action among them, and what
  /// has no time is last. Else the largest come first, the nameless last among equals.
  mutating func forEachRecord(
    _ receive: (String) throws(WriteFailure) -> Void
  ) throws(WriteFailure) {
    var left = Self.mostEmpty
    var last: Int64?
    let starts = starts
    for number in sorted(starts) {
      if let unit = grouping.time?.unit, let buckets, let start = starts[number] {
        if var empty = last.map(buckets.next), empty < start {
          let gap = (start - empty) / unit.width + 1
          if gap > Self.longestGap || gap > left {
            hasOpenGap = true
          } else {
            left -= gap
            while empty < start {
              let values =
                grouping.keys.map { $0.unit == nil ? .none : .time(empty) } as [GroupName.Value]
              try receive(record(values, Sums(), Tokens()))
              empty = buckets.next(after: empty)
            }
          }
        }
        last = start
      }
      let tokens = grouping.isUsage ? tokens[number] : Tokens()
      try receive(index.withName(number) { record(values(of: $0), sums[number], tokens) })
    }
    if grouping.hasTotal { try receive(record([] as [GroupName.Value], total, totalTokens)) }
  }

  private func values(of name: UnsafeRawBufferPointer?) -> GroupName.Values {
    GroupName.Values(name, isPlain: grouping.keys.count == 1 && grouping.time == nil)
  }

  private var starts: [Int64?] {
    guard let time = grouping.keys.firstIndex(where: { $0.unit != nil }) else { return [] }
    return sums.indices.map { number in
      index.withName(number) { values(of: $0).dropFirst(time).first { _ in true }?.seconds }
    }
  }

  private func sorted(_ starts: [Int64?]) -> [Int] {
    let costs = grouping.isUsage ? sums.map { Double($0.cost.text) ?? 0 } : []
    return sums.indices.sorted { a, b in
      if !starts.isEmpty, starts[a] != starts[b] {
        return starts[a] ?? .max < starts[b] ?? .max
      }
      if !costs.isEmpty, costs[a] != costs[b] { return costs[a] > costs[b] }
      if sums[a].count != sums[b].count { return sums[a].count > sums[b].count }
      return index.withName(a) { one in
        index.withName(b) { other in
          for (one, other) in zip(values(of: one), values(of: other)) {
            let order = one.compare(other)
            if order != 0 { return order < 0 }
          }
          return false
        }
      }
    }
  }

  private func record(_ values: some Sequence<GroupName.Value>, _ sums: Sums, _ tokens: Tokens)
    -> String
  {
    var record = RecordText(.count)
    for (key, value) in zip(grouping.keys, values) {
      record = record.stringOrNull(key.rawValue, value.text)
      if key == .session, prices != nil {
        record = record.stringOrNull("title", tokens.details.first?.title)
      }
    }
    record = record.number("count", sums.count).json("usd_cost", sums.cost.text)
    if grouping.isUsage {
      record = record.json("input_tokens", tokens.input.text)
        .json("output_tokens", tokens.output.text)
    }
    if let prices, grouping.isUsage {
      let details = tokens.details.first ?? Details()
      for (name, sum) in zip(TokenUsage.details, details.sums) {
        record = record.json(name, sum.text)
      }
      let names = details.unpriced.sorted().map(JSONQuote.string).joined(separator: ",")
      record = record.json("unpriced", "[\(names)]").string("prices", prices)
    }
    return record.text
  }
}

/// The values of the keys of a group, one behind the other as the name of the group.
enum GroupName {
  /// One of them, valid as long as the name is.
  enum Value {
    case text(UnsafeRawBufferPointer)
    case time(Int64)
    /// What has none is behind all that have one.
    case none

    /// When a bucket begins, in seconds since 1970.
    var seconds: Int64? { if case .time(let seconds) = self { seconds } else { nil } }

    var text: String? {
      switch self {
      case .text(let bytes): String(decoding: bytes, as: UTF8.self)
      case .time(let seconds): Timestamp(seconds: seconds).rfc3339
      case .none: nil
      }
    }

    /// Below 0 where it comes before another one, above 0 where it comes after it.
    func compare(_ other: Value) -> Int {
      switch (self, other) {
      case (.text(let one), .text(let two)):
        let size = min(one.count, two.count)
        if size > 0, let one = one.baseAddress, let two = two.baseAddress {
          let order = memcmp(one, two, size)
          if order != 0 { return Int(order) }
        }
        return one.count - two.count
      case (.time(let one), .time(let two)): return one == two ? 0 : one < two ? -1 : 1
      case (.none, .none): return 0
      case (.none, _): return 1
      default: return -1
      }
    }
  }

  // A byte that says what follows, then a time or a length, eight bytes either.
  private static let none: UInt8 = 0
  private static let text: UInt8 = 1
  private static let time: UInt8 = 2

  static func append(_ value: (some Collection<UInt8>)?, to name: inout [UInt8]) {
    guard let value else { return name.append(none) }
    name.append(text)
    append(UInt64(value.count), to: &name)
    name.append(contentsOf: value)
  }

  static func append(_ seconds: Int64?, to name: inout [UInt8]) {
    guard let seconds else { return name.append(none) }
    name.append(time)
    append(UInt64(bitPattern: seconds), to: &name)
  }

  private static func append(_ word: UInt64, to name: inout [UInt8]) {
    withUnsafeBytes(of: word) { name.append(contentsOf: $0) }
  }

  struct Values: Sequence, IteratorProtocol {
    private var rest: UnsafeRawBufferPointer?
    private let isPlain: Bool
    private var isDone = false

    init(_ name: UnsafeRawBufferPointer?, isPlain: Bool) { (rest, self.isPlain) = (name, isPlain) }

    mutating func next() -> Value? {
      if isDone { return nil }
      if isPlain {
        isDone = true
        return rest.map { .text($0) } ?? Value.none
      }
      guard let mark = rest?.first else { return nil }
      pass(1)
      if mark == GroupName.none { return Value.none }
      let word = rest?.loadUnaligned(as: UInt64.self) ?? 0
      pass(8)
      if mark == GroupName.time { return .time(Int64(bitPattern: word)) }
      let text = rest.map { UnsafeRawBufferPointer(rebasing: $0.prefix(Int(word))) }
      pass(Int(word))
      return text.map { .text($0) }
    }

    private mutating func pass(_ count: Int) {
      rest = rest.map { UnsafeRawBufferPointer(rebasing: $0.dropFirst(count)) }
    }
  }
}

/// What a model read and wrote for an action, in the spellings that its metadata may
/// have; absent where it does not say.
struct TokenUsage {
  private(set) var input = ScanValue.absent
  private(set) var output = ScanValue.absent
  /// What the answers in transcripts say besides, in the order of `details`; empty for any other.
  private(set) var details: [ScanValue] = []
  /// The day of the prices, and whether there was none for the model.
  private(set) var prices = ScanValue.absent
  private(set) var isUnpriced = false

  /// The members of a count.
  static let details = tokens + costs.map { "\($0)_usd" }
  private static let tokens = [
    "cache_write_5m_tokens", "cache_write_1h_tokens", "cache_read_tokens", "web_searches",
  ]
  private static let costs = [
    "input", "output", "cache_write_5m", "cache_write_1h", "cache_read", "web_search",
  ]
  /// The members of the usage and of the costs, by their place among `details`.
  private static let tokenNames = NameTable<Int>(tokens.enumerated().map { ($1, $0) })
  private static let costNames = NameTable<Int>(costs.enumerated().map { ($1, $0 + tokens.count) })

  /// Looks at `usage`, then `responseUsage`, then the metadata itself. The usage inside
  /// `llm` is that of another action, the call behind a reply, and does not count again.
  init(_ metadata: ScanValue) {
    guard metadata.isObject, var members = try? ScanMembers(metadata.bytes) else { return }
    var (usage, response, dollars) = (ScanValue.absent, ScanValue.absent, ScanValue.absent)
    while (try? members.next()) == true {
      let (name, value) = (Self.names[members.key], members.value)
      switch name {
      case .input where value.isNumber: input = value
      case .output where value.isNumber: output = value
      case .usage where value.isObject: usage = value
      case .response where value.isObject: response = value
      case .dollars where value.isObject: dollars = value
      case .prices where !value.isObject && !value.isNumber: prices = value
      case .unpriced: isUnpriced = value.bytes.elementsEqual("true".utf8)
      default: break
      }
    }
    let inside = usage.isObject ? usage : response
    guard inside.isObject, var parts = try? ScanMembers(inside.bytes) else { return }
    (input, output) = (.absent, .absent)
    while (try? parts.next()) == true {
      guard parts.value.isNumber else { continue }
      switch Self.names[parts.key] {
      case .input: input = parts.value
      case .output: output = parts.value
      default: break
      }
    }
    if !prices.isAbsent { readDetails(inside, dollars) }
  }

  private mutating func readDetails(_ usage: ScanValue, _ dollars: ScanValue) {
    details = Array(repeating: .absent, count: Self.details.count)
    for (object, names) in [(usage, Self.tokenNames), (dollars, Self.costNames)] {
      guard object.isObject, var members = try? ScanMembers(object.bytes) else { continue }
      while (try? members.next()) == true {
        if let index = names[members.key] { details[index] = members.value }
      }
    }
  }

  var isSome: Bool {
    ([input, output] + details).contains { value in ScanNumber(value).map { !$0.isZero } ?? false }
  }

  private enum Name { case input, output, usage, response, dollars, prices, unpriced }

  private static let names = NameTable<Name>([
    ("inputTokens", .input), ("input_tokens", .input), ("promptTokens", .input),
    ("prompt_tokens", .input), ("outputTokens", .output), ("output_tokens", .output),
    ("completionTokens", .output), ("completion_tokens", .output), ("usage", .usage),
    ("responseUsage", .response), ("usd", .dollars), ("prices", .prices),
    ("unpriced", .unpriced),
  ])
}

extension ActionFields {
  var isUsage: Bool {
    if let cost = ScanNumber(cost), !cost.isZero { return true }
    return TokenUsage(metadata).isSome
  }
}

struct NameIndex {
  private struct Entry {
    /// Where it is; -1 for that of what has none.
    let start: Int
    let length: Int
  }

  private var entries: [Entry] = []
  private var names: [UInt8] = []
  /// Where the number of a hash begins to be looked for: open addressing, the
  /// number of a name plus one, 0 where free.
  private var slots = [Int32](repeating: 0, count: 256)
  /// The names seen last, by a hash that costs next to nothing: most records
  /// are of a few groups.
  private var recent = [Int32](repeating: 0, count: 256)

  func withName<Result>(_ number: Int, _ body: (UnsafeRawBufferPointer?) -> Result) -> Result {
    let entry = entries[number]
    if entry.start < 0 { return body(nil) }
    return names.withUnsafeBytes {
      body(UnsafeRawBufferPointer(rebasing: $0[entry.start..<entry.start + entry.length]))
    }
  }

  mutating func clear() {
    if entries.isEmpty { return }
    entries.removeAll(keepingCapacity: true)
    names.removeAll(keepingCapacity: true)
    for slot in slots.indices { slots[slot] = 0 }
    for place in recent.indices { recent[place] = 0 }
  }

  /// The number of a name, a new one if it was not seen before; nil is a name, too.
  mutating func find(_ name: UnsafeRawBufferPointer?) -> Int {
    let place = Self.quickHash(name) & 255
    let known = Int(recent[place]) - 1
    if known >= 0, isNamed(known, name) { return known }
    let index = lookUp(name)
    recent[place] = Int32(index + 1)
    return index
  }

  private mutating func lookUp(_ name: UnsafeRawBufferPointer?) -> Int {
    let mask = slots.count - 1
    var slot = Self.hash(name) & mask
    while slots[slot] != 0 {
      let index = Int(slots[slot]) - 1
      if isNamed(index, name) { return index }
      slot = (slot + 1) & mask
    }
    entries.append(Entry(start: name == nil ? -1 : names.count, length: name?.count ?? 0))
    if let name { names.append(contentsOf: name) }
    slots[slot] = Int32(entries.count)
    if entries.count * 2 > slots.count { grow() }
    return entries.count - 1
  }

  private mutating func grow() {
    slots = [Int32](repeating: 0, count: slots.count * 4)
    for (index, entry) in entries.enumerated() {
      let hash = names.withUnsafeBytes { names in
        Self.hash(
          entry.start < 0
            ? nil
            : UnsafeRawBufferPointer(rebasing: names[entry.start..<entry.start + entry.length]))
      }
      var slot = hash & (slots.count - 1)
      while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
      slots[slot] = Int32(index + 1)
    }
  }

  private static func hash(_ name: UnsafeRawBufferPointer?) -> Int {
    var hasher = Hasher()
    if let name { hasher.combine(bytes: name) } else { hasher.combine(0) }
    return hasher.finalize()
  }

  /// Of the length, the first and the last bytes alone.
  private static func quickHash(_ name: UnsafeRawBufferPointer?) -> Int {
    guard let name, let base = name.baseAddress, name.count > 0 else { return 0 }
    var word = UInt64(name.count)
    if name.count >= 8 {
      word ^= base.loadUnaligned(as: UInt64.self)
      word ^= base.loadUnaligned(fromByteOffset: name.count - 8, as: UInt64.self) &* 31
    } else {
      for byte in name { word = word &* 31 &+ UInt64(byte) }
    }
    return Int(truncatingIfNeeded: (word &* 0x9e37_79b9_7f4a_7c15) >> 40)
  }

  @inline(__always)
  private func isNamed(_ index: Int, _ name: UnsafeRawBufferPointer?) -> Bool {
    let (start, length) = (entries[index].start, entries[index].length)
    guard let name else { return start < 0 }
    guard start >= 0 && length == name.count else { return false }
    guard let other = name.baseAddress else { return true }
    return names.withUnsafeBytes { names in
      names.baseAddress.map { memcmp($0 + start, other, length) == 0 } ?? (length == 0)
    }
  }
}
