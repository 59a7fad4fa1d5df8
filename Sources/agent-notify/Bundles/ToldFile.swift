import CLibc
import Core
import Notices
import Records
import Screen

/// What was told, and what is kept for later, over restarts: a record `notify_state`.
///
/// A notification is written down when it was read, and again when it was told: only a crash
/// between its telling and that tells it twice.
final class ToldFile {
  private let file: StateFile
  private var ids: [String] = []
  private var known: Set<String> = []
  private var order: [String] = []
  private(set) var kept: [Bundle] = []
  private(set) var others = 0
  private(set) var waiting: [Bundle] = []
  private var history: [ToldNotice] = []
  private var isDirty = false

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
      try Self.lock(file.path)
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
    guard free < slots.count else {
      throw Failure(slots[0].path, "in use by another agent-notify")
    }
    file = slots[free]
    try receive(file, now: now)
    for (index, slot) in slots.enumerated() where index != free && access(slot.path, F_OK) == 0 {
      if index > free, try Self.locks(slot.path) {
        try receive(slot, now: now)
        adopted.append(slot)
        isDirty = true
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
  private static func lock(_ path: String) throws(Failure) {
    guard try locks(path) else { throw Failure(path, "in use by another agent-notify") }
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

  var hasNews: Bool { isDirty }

  /// Whether it is new. It is known from now on, and for other runs when it is written.
  func isNew(_ id: String?) -> Bool {
    guard let id else { return true }
    guard known.insert(id).inserted else { return false }
    order.append(id)
    if order.count >= 4 * Self.most {
      for id in order.prefix(2 * Self.most) { known.remove(id) }
      order.removeFirst(2 * Self.most)
    }
    return true
  }

  /// Writes down that these are told or kept, at the next `save`.
  func add(_ added: [String]) {
    ids = (ids + added).suffix(Self.most)
    isDirty = true
  }

  func add(_ delivery: Delivery) {
    history.append(ToldNotice(delivery))
    if history.count > Self.mostHistory { history.removeFirst() }
    isDirty = true
  }

  func save(kept bundles: [Bundle], others: Int, waiting: [Bundle]) throws(Failure) {
    guard isDirty else { return }
    let record = RecordText(.notifyState).strings("told", ids)
      .objects("kept", bundles.map { Self.object($0) }).number("others", others)
      .objects("waiting", waiting.isEmpty ? nil : waiting.map { Self.object($0, isWhole: true) })
      .objects("history", history.isEmpty ? nil : history.map(\.object))
      .time(Timestamp.now())
    try file.replace(with: record.line)
    isDirty = false
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
    guard let time = object["time"]?.string.flatMap({ Timestamp(rfc3339: $0) }),
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
    return "\(TimeText.absolute(time, zone: TimeText.local)) \(Plain.line(urgency))  "
      + Plain.line(title) + (body.isEmpty ? "" : ": " + body)
  }
}
