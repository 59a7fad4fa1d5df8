import CLibc
import Core
import Records
import Screen

struct BundleLimits: Sendable {
  /// How long a notification waits for more of the same, seconds.
  var settle = 2.0
  /// How often something is told, a minute.
  var rate = 6
  /// How long after the first what is kept is told, seconds; 0 for the end.
  var digest = 1800.0
}

/// Makes few deliveries of many notifications. Pure: the clock is handed in.
///
/// A notification waits for others of its kind until none has come for `settle` seconds, at
/// most five times as long. So a burst is told once, with a count. No more than `rate` are
/// told a minute: the last of them is the sum of all that are due, and what comes then waits
/// and adds up. What is pressing is no part of a sum and counts for none, and an emergency does
/// not wait for anything.
struct Bundler {
  private let limits: BundleLimits
  /// To be told as soon as may be, in the order of their first.
  private(set) var waiting: [Bundle]
  private(set) var kept: [Bundle]
  /// What came when there were too many kinds to keep apart.
  private var others = 0
  private(set) var keptOthers: Int
  /// When something was told within the last minute.
  private var told: [Double] = []

  static let mostKinds = 200
  /// Of those that are in no sum; no more is read while so many wait.
  static let mostPressing = 2000

  static func most(_ urgency: NotificationRecord.Urgency) -> Int {
    urgency.isPressing ? mostPressing + mostKinds : mostKinds
  }

  /// With what an earlier run has left.
  init(
    _ limits: BundleLimits, kept: [Bundle] = [], others: Int = 0, waiting: [Bundle] = []
  ) { (self.limits, self.kept, keptOthers, self.waiting) = (limits, kept, others, waiting) }

  var isEmpty: Bool { waiting.isEmpty && others == 0 }

  /// What waits, for a later run: those without a place are one.
  var unsaid: [Bundle] { waiting + bundled(others) }

  private func bundled(_ others: Int) -> [Bundle] {
    others > 0 ? [Bundle(counted: others, now: 0)] : []
  }

  mutating func takeBack(_ bundles: [Bundle], wasKept: Bool) {
    if wasKept { kept = bundles + kept } else { waiting = bundles + waiting }
  }

  func hasDue(now: Double, isEnd: Bool) -> Bool {
    isEnd && !isEmpty || waiting.contains { $0.urgency == .emergency }
      || next(now: now) ?? .infinity <= now
  }

  mutating func receive(_ routed: RoutedNotice, id: String?, isNow: Bool, now: Double) {
    if isNow {
      if !Self.add(routed, id, to: &waiting, now) { others += 1 }
    } else if !Self.add(routed, id, to: &kept, now) {
      keptOthers += 1
    }
  }

  private static func add(
    _ routed: RoutedNotice, _ id: String?, to bundles: inout [Bundle], _ now: Double
  ) -> Bool {
    let fresh = Bundle(routed, id, now: now)
    if let index = bundles.lastIndex(where: { $0.takes(fresh) }) {
      bundles[index].add(fresh)
      bundles[index].last = fresh.last
      return true
    }
    guard bundles.count < most(fresh.urgency) else { return false }
    bundles.append(fresh)
    return true
  }

  /// What is to be told now.
  mutating func due(now: Double, isEnd: Bool) -> [(Delivery, of: [Bundle])] {
    told.removeAll { now - $0 >= 60 }
    let limits = limits
    let isReady = { (bundle: Bundle) in
      isEnd || bundle.urgency == .emergency || Self.time(of: bundle, limits) <= now
    }
    // The pressing ones do not count.
    let pressing = waiting.filter { $0.isPressing && isReady($0) }
    let ordered =
      pressing.filter { $0.urgency == .emergency } + pressing.filter { $0.urgency != .emergency }
    var out = ordered.map { ($0.delivery, of: [$0]) }
    waiting.removeAll { $0.isPressing && isReady($0) }
    let ready = waiting.filter { !$0.isPressing && isReady($0) }
    guard !ready.isEmpty || isEnd && others > 0, isEnd || told.count < limits.rate else {
      return out
    }
    let room = max(1, limits.rate - told.count)
    let parts = ready.count + (others > 0 ? 1 : 0)
    let single = parts <= room && others == 0 ? ready.count : min(room - 1, ready.count)
    for bundle in ready.prefix(single) { out.append((bundle.delivery, [bundle])) }
    let rest = Array(ready.dropFirst(single))
    let isSummed = !rest.isEmpty || others > 0
    if isSummed {
      let summary = Bundle.summary(rest, others: others)
      out.append((summary, rest + bundled(others)))
      others = 0
    }
    waiting.removeAll { !$0.isPressing && isReady($0) }
    told += Array(repeating: now, count: single + (isSummed ? 1 : 0))
    return out
  }

  func next(now: Double) -> Double? {
    let pressing = waiting.filter(\.isPressing).map(time).min()
    guard let first = waiting.filter({ !$0.isPressing }).map(time).min() else { return pressing }
    let recent = told.filter { now - $0 < 60 }
    let next = recent.count < limits.rate ? first : max(first, (recent.min() ?? now) + 60)
    return min(pressing ?? .infinity, next)
  }

  private func time(of bundle: Bundle) -> Double { Self.time(of: bundle, limits) }

  private static func time(of bundle: Bundle, _ limits: BundleLimits) -> Double {
    min(bundle.first + 5 * limits.settle, bundle.last + limits.settle)
  }

  /// When what is kept is to be told; nil when there is nothing, or not before the end.
  var digestTime: Double? {
    guard limits.digest > 0, let first = kept.map(\.first).min() else { return nil }
    return first + limits.digest
  }

  /// Tells what was kept, in one but for what is pressing. Returns what it tells, too.
  mutating func digest() -> [(Delivery, of: [Bundle])] {
    defer { (kept, keptOthers) = ([], 0) }
    let rest = kept.filter { !$0.isPressing }
    let out = kept.filter(\.isPressing).map { ($0.delivery, of: [$0]) }
    if rest.isEmpty, keptOthers == 0 { return out }
    let isOne = rest.count == 1 && keptOthers == 0
    let delivery = isOne ? rest[0].delivery : Bundle.summary(rest, others: keptOthers)
    return out + [(delivery, of: rest + bundled(keptOthers))]
  }
}

/// One thing that a person is told. Its texts are as they came: each way makes them safe for
/// where it puts them.
struct Delivery: Equatable {
  var title: String
  var body: String
  var urgency: NotificationRecord.Urgency
  var hasSound: Bool
  var count = 1
  var time: Timestamp?
  var category: String
  /// The same for each try to tell it, over restarts, and for nothing else.
  var sequence: String
  /// The record `notification`, with a LF.
  var record: [UInt8]
  /// The approval that it tells of, and nothing beside it.
  var question: String?
}

/// Many deliveries in one, and no more of them in memory than are shown.
struct Summary {
  private(set) var count = 0
  private var shown: [Delivery] = []
  private var hasSound = false
  private var time: Timestamp?
  private var sequence: String?

  private static let mostShown = 60
  /// Of the text of each, characters, while they are few, and else.
  private static let (few, mostText, mostOfMany) = (20, 80, 24)

  init(others: Int = 0) { count = others }

  mutating func add(_ delivery: Delivery) {
    count += delivery.count
    hasSound = hasSound || delivery.hasSound
    time = delivery.time
    sequence = sequence ?? delivery.sequence
    let place = shown.firstIndex { $0.urgency.rank > delivery.urgency.rank } ?? shown.count
    shown.insert(delivery, at: place)
    if shown.count > Self.mostShown { shown.removeLast() }
  }

  var delivery: Delivery {
    let rest = count - shown.reduce(0) { $0 + $1.count }
    let most = shown.count > Self.few ? Self.mostOfMany : Self.mostText
    let lines =
      shown.map { one in
        // The first line says what it is; more would hide the others.
        let text = one.count > 1 ? "" : one.body.split(separator: "\n").first ?? ""
        return one.title + (text.isEmpty ? "" : ": \(text.prefix(most))")
      } + (rest > 0 ? ["and \(rest) more"] : [])
    let body = lines.joined(separator: "\n")
    let urgency = shown.first?.urgency ?? .info
    let title = count == 1 ? "1 notification" : "\(count) notifications"
    let record = RecordText(.notification).string("urgency", urgency.rawValue)
      .string("category", "summary").string("title", title).string("text", body)
      .number("count", count).time(time)
    return Delivery(
      title: title, body: body, urgency: urgency, hasSound: hasSound, count: count, time: time,
      category: "summary", sequence: sequence ?? Bundle.newSequence(), record: record.line)
  }
}

/// Notifications that are the same to a person: of one agent, with one title. An approval is
/// never the same as another, and an emergency only as one with the same text.
struct Bundle {
  /// What is of one key is the same.
  let key: [String?]
  private(set) var notice: Notice
  let sequence: String
  /// The first lines of the texts of all, where it has room for more.
  private var texts: [String]?
  private(set) var count: Int
  private(set) var urgency: NotificationRecord.Urgency
  private(set) var hasSound: Bool
  private(set) var ids: [String]
  /// The ways that could not tell it, by their names; none where no way has told it.
  var ways: [String] = []
  /// When they came, seconds of the monotonic clock.
  private(set) var first: Double
  var last: Double

  /// Longer texts are of no use to somebody who is interrupted, scalars.
  static let mostTitle = 200, mostText = 4000
  /// Of several texts, so many lines of so many scalars.
  private static let mostLines = 8, mostLine = 160

  init(_ routed: RoutedNotice, _ id: String?, now: Double) {
    let notice = Self.cut(routed.notice)
    // An approval has one for ever: where it is asked again, that takes the place of before.
    let sequence = notice.category == "approval" ? ToldFile.id(of: notice) : nil
    self.init(
      notice, count: 1, urgency: routed.urgency ?? .attention, hasSound: routed.hasSound,
      ids: id.map { [$0] } ?? [], sequence: sequence, now: now)
  }

  init(
    _ notice: Notice, count: Int, urgency: NotificationRecord.Urgency, hasSound: Bool,
    ids: [String], sequence: String? = nil, now: Double
  ) {
    (self.notice, self.hasSound, self.ids) = (notice, hasSound, ids)
    let single: String? =
      notice.category == "approval"
      ? notice.id ?? Self.newSequence() : urgency == .emergency ? notice.text ?? "" : nil
    key = [
      notice.profile, notice.place, notice.category, notice.title ?? notice.category, single,
    ]
    self.sequence = sequence ?? Self.newSequence()
    texts = count > 1 ? nil : [Self.line(of: notice)]
    (self.count, self.urgency) = (count, urgency)
    (first, last) = (now, now)
  }

  /// 64 random bits.
  static func newSequence() -> String {
    var generator = SystemRandomNumberGenerator()
    return String(generator.next(), radix: 36)
  }

  private static func line(of notice: Notice) -> String {
    let line = notice.text?.split(separator: "\n").first.map(String.init) ?? ""
    return cut(line, mostLine)
  }

  /// Whether nothing of it may be left out: it is told by itself.
  var isPressing: Bool { urgency.isPressing }

  /// Whether it is the same, and what the other says has a place in this one.
  func takes(_ other: Bundle) -> Bool {
    guard key == other.key else { return false }
    guard isPressing || other.isPressing else { return true }
    guard let texts, let line = other.texts?.first else { return false }
    return texts.count < Self.mostLines || texts.contains(line)
  }

  mutating func add(_ other: Bundle) {
    count += other.count
    if other.isPressing, let texts, let line = other.texts?.first, !texts.contains(line) {
      self.texts = texts + [line]
      notice.text = (texts + [line]).filter { !$0.isEmpty }.joined(separator: "\n")
    }
    if other.urgency.rank < urgency.rank { urgency = other.urgency }
    hasSound = hasSound || other.hasSound
    ids += other.ids.prefix(max(0, ToldFile.most - ids.count))
  }

  /// What is the same is one again, and what has no place is counted.
  static func gather(_ bundles: [Bundle], into list: inout [Bundle], now: Double) {
    for var bundle in bundles {
      (bundle.first, bundle.last) = (now, now)
      if list.count >= Bundler.most(bundle.urgency) {
        bundle = Bundle(counted: bundle.count, ids: bundle.ids, now: now)
      }
      let same = list.firstIndex {
        !$0.isPressing && !bundle.isPressing && $0.key == bundle.key && $0.ways == bundle.ways
      }
      if let same { list[same].add(bundle) } else { list.append(bundle) }
    }
  }

  /// So many of which nothing else is known.
  init(counted count: Int, ids: [String] = [], now: Double) {
    var notice = Notice()
    notice.title = "more notifications"
    self.init(notice, count: count, urgency: .attention, hasSound: false, ids: ids, now: now)
  }

  private var ownTitle: String { notice.title ?? notice.category }

  var title: String {
    let name = ownTitle.isEmpty ? "notification" : ownTitle
    let who = [notice.profile, notice.place].compactMap(\.self).joined(separator: " ")
    return (who.isEmpty ? "" : "\(who): ") + name + (count > 1 ? " ×\(count)" : "")
  }

  var delivery: Delivery {
    let record = RecordText(.notification).string("backend", notice.backend)
      .string("profile", notice.profile).string("id", notice.id)
      .string("urgency", urgency.rawValue).string("category", notice.category)
      .string("title", ownTitle).string("text", notice.text)
      .object("about", notice.about.map(RoutedNotice.object)).string("thread", notice.thread)
      .string("place", notice.place).number("count", count > 1 ? count : nil).time(notice.time)
    return Delivery(
      title: title, body: notice.text ?? "", urgency: urgency, hasSound: hasSound, count: count,
      time: notice.time, category: notice.category, sequence: sequence, record: record.line,
      question: count == 1 && notice.category == "approval" ? Ask.key(notice) : nil)
  }

  /// Many in one.
  static func summary(_ bundles: [Bundle], others: Int = 0) -> Delivery {
    var summary = Summary(others: others)
    for bundle in bundles { summary.add(bundle.delivery) }
    return summary.delivery
  }

  private static func cut(_ notice: Notice) -> Notice {
    var notice = notice
    for member in [\Notice.title, \.profile, \.backend, \.thread, \.place, \.id] {
      notice[keyPath: member] = notice[keyPath: member].map { cut($0, mostTitle) }
    }
    notice.category = cut(notice.category, mostTitle)
    notice.text = notice.text.map { cut($0, mostText) }
    notice.about = notice.about.map {
      .init(type: cut($0.type, mostTitle), id: cut($0.id, mostTitle))
    }
    return notice
  }

  private static func cut(_ text: String, _ most: Int) -> String {
    let scalars = text.unicodeScalars
    // A scalar has a byte at least: most texts need no counting.
    guard text.utf8.count > most,
      let end = scalars.index(scalars.startIndex, offsetBy: most, limitedBy: scalars.endIndex),
      end < scalars.endIndex
    else { return text }
    return String(scalars[..<end]) + "…"
  }
}

extension NotificationRecord.Urgency {
  /// Whether a person is to act on it soon.
  var isPressing: Bool { self == .emergency || self == .urgent }
  /// 0 for the most pressing.
  fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// What was told, and what is kept for later, over restarts: a record `notify_state`.
///
/// A notification is written down when it was read, and again when it was told: only a crash
/// between its telling and that tells it twice.
final class ToldFile {
  private let file: StateFile
  private var ids: [String] = []
  private var known = RecentIDs<String>(most: 2 * most)
  private(set) var kept: [Bundle] = []
  private(set) var others = 0
  private(set) var waiting: [Bundle] = []
  private var history: [ToldNotice] = []
  private(set) var hasNews = false

  static let most = 4096, mostHistory = 100
  /// The longest file that one of ours can be, bytes: so many kinds, each with its ids. One that
  /// is longer is refused, not read in part: what it has was acknowledged, and is nowhere else.
  private static let limit = 128 << 20

  /// Files of processes that have ended, all of which is here at the next `save`.
  private var adopted: [StateFile] = []
  private static let mostSlots = 32

  init(
    _ path: String?, profiles: [String], isBus: Bool, now: Double
  ) throws(Failure) {
    if path != nil || !profiles.isEmpty || isBus {
      file = try Self.file(path, profiles: profiles, isBus: isBus)
      guard try Self.locks(file.path) else { throw Self.inUse(file) }
      try receive(file, now: now)
      return
    }
    let slots = try (1...Self.mostSlots).map { number throws(Failure) in
      StateFile(path: try Folders().stateFile(number == 1 ? "notify" : "notify+\(number)"))
    }
    var free = slots.count
    for index in slots.indices where free == slots.count {
      if try Self.locks(slots[index].path) { free = index }
    }
    guard free < slots.count else { throw Self.inUse(slots[0]) }
    file = slots[free]
    try receive(file, now: now)
    for (index, slot) in slots.enumerated() where index != free && access(slot.path, F_OK) == 0 {
      if index > free, try Self.locks(slot.path) {
        try receive(slot, now: now)
        adopted.append(slot)
        hasNews = true
      } else if let object = try Self.state(of: slot) {
        for id in object["told"]?.elements.compactMap(\.string) ?? [] { _ = isNew(id) }
      }
    }
  }

  private func receive(_ file: StateFile, now: Double) throws(Failure) {
    guard let object = try Self.state(of: file) else { return }
    let told = object["told"]?.elements.compactMap(\.string) ?? []
    ids = (ids + told).suffix(Self.most)
    others += Self.count(object["others"], atLeast: 0)
    kept += Self.bundles(object["kept"], now: now)
    let others = Self.bundles(object["waiting"], now: now)
    waiting += others
    for id in told + others.flatMap(\.ids) { _ = isNew(id) }
    history = (Self.history(of: object) + history).suffix(Self.mostHistory)
  }

  private static func file(
    _ path: String?, profiles: [String], isBus: Bool
  ) throws(Failure) -> StateFile {
    if let path { return StateFile(path: path) }
    let names = profiles.map(fileName).joined(separator: "+")
    let name = isBus ? "notify+bus" : "notify" + (names.isEmpty ? "" : "-" + names)
    return StateFile(path: try Folders().stateFile(name))
  }

  private static func state(of file: StateFile) throws(Failure) -> JSONValue? {
    guard let bytes = try file.read(limit: limit) else { return nil }
    return try? JSONValue.parse(bytes)
  }

  static func history(
    _ path: String?, profiles: [String], isBus: Bool
  ) throws(Failure) -> [ToldNotice] {
    var files = [try file(path, profiles: profiles, isBus: isBus)]
    if path == nil, profiles.isEmpty, !isBus {
      let folder = Folders().state
      // A dot stands in the names of locks and of files that are being written.
      let names = try FolderFile.names(in: folder).filter {
        ($0.hasPrefix("notify-") || $0.hasPrefix("notify+")) && !$0.utf8.contains(UInt8(ascii: "."))
      }
      files += names.sorted().map { StateFile(path: Folders.join(folder, $0)) }
    }
    var all: [ToldNotice] = []
    for file in files {
      if let object = try state(of: file) { all += history(of: object) }
    }
    return all.enumerated().sorted {
      ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
    }.map(\.element)
  }

  private static func history(of object: JSONValue) -> [ToldNotice] {
    object["history"]?.elements.compactMap { ToldNotice($0) } ?? []
  }

  private static func bundles(_ list: JSONValue?, now: Double) -> [Bundle] {
    (list?.elements ?? []).map { one in
      var bundle = Bundle(
        Notice(one), count: count(one["count"], atLeast: 1),
        urgency: one["urgency"]?.string.flatMap { .init(rawValue: $0) } ?? .info,
        hasSound: one["sound"]?.bool == true,
        ids: one["ids"]?.elements.compactMap(\.string) ?? [], sequence: one["sequence"]?.string,
        now: now)
      bundle.ways = one["ways"]?.elements.compactMap(\.string) ?? []
      return bundle
    }
  }

  /// Of two processes, each would tell what the other told, and undo what it kept.
  private static func inUse(_ file: StateFile) -> Failure {
    Failure(file.path, "in use by another agent-notify")
  }

  private static func locks(_ path: String) throws(Failure) -> Bool {
    // Never closed where it is ours. The file itself is replaced meanwhile.
    let descriptor = try OwnPath.append(try OwnPath.resolve(path) + ".lock")
    if clibc_lock(descriptor) == 0 { return true }
    let code = systemError
    close(descriptor)
    if code == EWOULDBLOCK { return false }
    throw Failure(path, systemReason(code))
  }

  /// A number that sums can be made of, whatever the file has.
  private static func count(_ value: JSONValue?, atLeast least: Int) -> Int {
    Int(min(max(value?.integer ?? 0, Int64(least)), 1 << 40))
  }

  static func id(of notice: Notice) -> String? {
    guard let id = notice.id else { return nil }
    let text = [notice.backend ?? "", notice.profile ?? "", id].joined(separator: "\0")
    return Array(text.utf8).withUnsafeBytes { ActionKey(text: $0) }.text
  }

  /// Whether it is new. It is known from now on, and for other runs when it is written.
  func isNew(_ id: String?) -> Bool {
    id.map { known.insert($0) } ?? true
  }

  /// Writes down that these are told or kept, at the next `save`.
  func add(_ added: [String]) {
    ids = (ids + added).suffix(Self.most)
    hasNews = true
  }

  func add(_ delivery: Delivery) {
    history.append(ToldNotice(delivery))
    if history.count > Self.mostHistory { history.removeFirst() }
    hasNews = true
  }

  func save(kept bundles: [Bundle], others: Int, waiting: [Bundle]) throws(Failure) {
    guard hasNews else { return }
    let record = RecordText(.notifyState).strings("told", ids)
      .objects("kept", bundles.map { Self.object($0) }).number("others", others)
      .objects("waiting", waiting.isEmpty ? nil : waiting.map { Self.object($0, isWhole: true) })
      .objects("history", history.isEmpty ? nil : history.map(\.object))
      .time(Timestamp.now())
    try file.replace(with: record.line)
    hasNews = false
    for each in adopted { unlink(each.path) }
    adopted = []
  }

  private static func object(_ bundle: Bundle, isWhole: Bool = false) -> RecordText {
    let notice = bundle.notice
    let text = RecordText().string("profile", notice.profile)
      .string("urgency", bundle.urgency.rawValue).string("category", notice.category)
      .string("title", notice.title).string("text", notice.text).string("place", notice.place)
      .number("count", bundle.count).time(notice.time)
    guard isWhole else { return text }
    return text.string("backend", notice.backend).string("id", notice.id)
      .object("about", notice.about.map(RoutedNotice.object)).string("thread", notice.thread)
      .string("sequence", bundle.sequence).bool("sound", bundle.hasSound).strings("ids", bundle.ids)
      .strings("ways", bundle.ways.isEmpty ? nil : bundle.ways)
  }

  /// A name that is one of a file: what could lead elsewhere is spelled out.
  private static func fileName(_ name: String) -> String {
    name.utf8.map { byte in
      byte.isOfName ? String(UnicodeScalar(byte)) : "%" + String(byte, radix: 16)
    }.joined()
  }
}

struct ToldNotice {
  let time: Timestamp
  let urgency: String
  let title: String
  let body: String

  init(_ delivery: Delivery) {
    time = .now()
    urgency = delivery.urgency.rawValue
    (title, body) = (delivery.title, delivery.body)
  }

  init?(_ object: JSONValue) {
    guard let time = object["time"]?.time,
      let title = object["title"]?.string
    else { return nil }
    (self.time, self.title) = (time, title)
    urgency = object["urgency"]?.string ?? "info"
    body = object["text"]?.string ?? ""
  }

  var object: RecordText {
    RecordText().string("urgency", urgency).string("title", title)
      .string("text", body.isEmpty ? nil : body).time(time)
  }

  var line: String {
    let body = Plain.line(body)
    return "\(TimeText.absolute(time)) \(Plain.line(urgency))  "
      + Plain.line(title) + (body.isEmpty ? "" : ": " + body)
  }
}
