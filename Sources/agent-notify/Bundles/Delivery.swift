import Core
import Notices
import Records

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
  struct Key: Hashable {
    var profile: String?
    var place: String?
    var category: String
    var title: String
    var single: String?

    fileprivate init(_ notice: Notice, _ urgency: NotificationRecord.Urgency) {
      (profile, place) = (notice.profile, notice.place)
      category = notice.category
      title = notice.title ?? notice.category
      if category == "approval" {
        single = notice.id ?? Bundle.newSequence()
      } else if urgency == .emergency {
        single = notice.text ?? ""
      }
    }
  }

  let key: Key
  private(set) var notice: Notice
  let sequence: String
  /// The first lines of the texts of all, where it has room for more.
  private var texts: [String]?
  private(set) var count = 0
  private(set) var urgency = NotificationRecord.Urgency.noise
  private(set) var hasSound = false
  private(set) var ids: [String] = []
  /// The ways that could not tell it, by their names; none where no way has told it.
  var ways: [String] = []
  /// When they came, seconds of the monotonic clock.
  private(set) var first: Double
  private(set) var last: Double

  /// Longer texts are of no use to somebody who is interrupted, scalars.
  static let mostTitle = 200, mostText = 4000
  /// Of several texts, so many lines of so many scalars.
  private static let mostLines = 8, mostLine = 160

  init(_ routed: RoutedNotice, now: Double) {
    notice = Self.cut(routed.notice)
    key = Key(notice, routed.urgency ?? .attention)
    // An approval has one for ever: where it is asked again, that takes the place of before.
    let id = notice.category == "approval" ? ToldFile.id(of: notice) : nil
    sequence = id ?? Self.newSequence()
    texts = [Self.line(of: notice)]
    first = now
    last = now
  }

  init(
    _ notice: Notice, count: Int, urgency: NotificationRecord.Urgency, hasSound: Bool,
    ids: [String], sequence: String? = nil, now: Double
  ) {
    (self.notice, self.hasSound, self.ids) = (notice, hasSound, ids)
    key = Key(notice, urgency)
    self.sequence = sequence ?? Self.newSequence()
    texts = count > 1 ? nil : [Self.line(of: notice)]
    (self.count, self.urgency) = (count, urgency)
    first = now
    last = now
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
  func takes(_ other: Bundle, _ urgency: NotificationRecord.Urgency) -> Bool {
    guard key == other.key else { return false }
    guard isPressing || urgency.isPressing else { return true }
    guard let texts, let line = other.texts?.first else { return false }
    return texts.count < Self.mostLines || texts.contains(line)
  }

  mutating func add(_ routed: RoutedNotice, id: String?, now: Double) {
    count += 1
    last = now
    let given = routed.urgency ?? .attention
    if count > 1, given.isPressing, var texts {
      let line = Self.line(of: Self.cut(routed.notice))
      if !texts.contains(line) {
        texts.append(line)
        self.texts = texts
        notice.text = texts.filter { !$0.isEmpty }.joined(separator: "\n")
      }
    }
    if given.rank < urgency.rank { urgency = given }
    hasSound = hasSound || routed.hasSound
    if let id, ids.count < ToldFile.most { ids.append(id) }
  }

  /// What is the same is one again, and what has no place is counted.
  static func gather(_ bundles: [Bundle], into list: inout [Bundle], now: Double) {
    for var bundle in bundles {
      (bundle.first, bundle.last) = (now, now)
      if list.count >= Bundler.most(bundle.urgency) { bundle = bundle.countedOnly(now: now) }
      let same = list.firstIndex {
        !$0.isPressing && !bundle.isPressing && $0.key == bundle.key && $0.ways == bundle.ways
      }
      if let same { list[same].absorb(bundle) } else { list.append(bundle) }
    }
  }

  private mutating func absorb(_ other: Bundle) {
    count += other.count
    ids += other.ids.prefix(max(0, ToldFile.most - ids.count))
    if other.urgency.rank < urgency.rank { urgency = other.urgency }
    hasSound = hasSound || other.hasSound
  }

  static func counted(_ count: Int, now: Double) -> Bundle {
    var notice = Notice()
    notice.title = "more notifications"
    return Bundle(
      notice, count: count, urgency: .attention, hasSound: false, ids: [], now: now)
  }

  private func countedOnly(now: Double) -> Bundle {
    var out = Self.counted(count, now: now)
    out.ids = ids
    return out
  }

  var title: String {
    let name = key.title.isEmpty ? "notification" : key.title
    let who = [key.profile, key.place].compactMap(\.self).joined(separator: " ")
    return (who.isEmpty ? "" : "\(who): ") + name + (count > 1 ? " ×\(count)" : "")
  }

  var delivery: Delivery {
    let record = RecordText(.notification).string("backend", notice.backend)
      .string("profile", notice.profile).string("id", notice.id)
      .string("urgency", urgency.rawValue).string("category", notice.category)
      .string("title", key.title).string("text", notice.text)
      .object("about", notice.about.map(RoutedNotice.object)).string("thread", notice.thread)
      .string("place", notice.place).number("count", count > 1 ? count : nil).time(notice.time)
    return Delivery(
      title: title, body: notice.text ?? "", urgency: urgency, hasSound: hasSound, count: count,
      time: notice.time, category: key.category, sequence: sequence, record: record.line,
      question: count == 1 && notice.category == "approval" ? Asks.key(notice) : nil)
  }

  /// Many in one.
  static func summary(_ bundles: [Bundle], others: Int = 0) -> Delivery {
    var summary = Summary(others: others)
    for bundle in bundles { summary.add(bundle.delivery) }
    return summary.delivery
  }

  private static func cut(_ notice: Notice) -> Notice {
    var notice = notice
    notice.title = notice.title.map { cut($0, mostTitle) }
    notice.category = cut(notice.category, mostTitle)
    notice.text = notice.text.map { cut($0, mostText) }
    notice.profile = notice.profile.map { cut($0, mostTitle) }
    notice.backend = notice.backend.map { cut($0, mostTitle) }
    notice.thread = notice.thread.map { cut($0, mostTitle) }
    notice.place = notice.place.map { cut($0, mostTitle) }
    notice.id = notice.id.map { cut($0, mostTitle) }
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
