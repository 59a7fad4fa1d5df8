import Core
import Records

/// A notification as it comes: a record, what a line was found to tell, or only what a
/// decision needs. Members are as they were written; any may be missing.
struct Notice: Equatable, Sendable {
  /// What speaks for the agent.
  var backend: String?
  var profile: String?
  var id: String?
  var urgency: String?
  /// The urgency as JSON, where it is no string.
  var oddUrgency: String?
  var category = ""
  /// What it says, in a line.
  var title: String?
  /// More about it.
  var text: String?
  /// The record that it is about.
  var about: NotificationRecord.Subject?
  /// The conversation's id.
  var thread: String?
  /// Where the agent works, a word for people: the name of a folder.
  var place: String?
  var time: Timestamp?
  /// Whether it was read from a list, such as a snapshot, and may be old.
  var isPast = false

  /// Nothing.
  init() {}

  /// What a record says.
  init(_ record: NotificationRecord) {
    backend = record.origin.backend.rawValue
    profile = record.origin.profile
    id = record.id
    urgency = record.urgency.rawValue
    category = record.category
    title = record.title
    text = record.text
    about = record.about
    thread = record.thread
    time = record.time
  }

  /// - Parameters:
  ///   - object: a record, of ours or of somebody who knows no backend.
  ///   - id: the name of the member with its id.
  init(_ object: JSONValue, id: String = "id") {
    backend = object["backend"]?.string
    profile = object["profile"]?.string
    self.id = object[id]?.text
    urgency = object["urgency"]?.string
    if urgency == nil { oddUrgency = object["urgency"]?.compact() }
    category = object["category"]?.string ?? ""
    title = object["title"]?.string
    text = object["text"]?.string
    if let type = object["about"]?["type"]?.string, let id = object["about"]?["id"]?.text {
      about = NotificationRecord.Subject(type: type, id: id)
    }
    thread = object["thread"]?.string
    place = object["place"]?.string
    time = object["time"]?.time
    isPast = object["past"]?.bool == true
  }
}

/// A notification with where it goes.
struct RoutedNotice: Equatable, Sendable {
  var notice: Notice
  /// Nil where its urgency is a word that nobody knows.
  var route: Route?
  /// What is done and how; nil too where that was decided elsewhere in words that are not
  /// known here.
  var action: RouteAction?
  /// Where the person was, where that was decided elsewhere.
  var givenState: PersonState?
  /// How soon it matters, after all; nil for a word that is not known.
  var urgency: NotificationRecord.Urgency?
  var hasSound = false
  /// The record that it came as, where it was routed before.
  var line: [UInt8]?

  /// Decides.
  init(_ notice: Notice, _ input: RouteInput) {
    self.notice = notice
    if self.notice.time == nil { self.notice.time = input.now.instant }
    route = Route(input)
    action = route?.cell.action
    urgency = route?.urgency
    hasSound = route?.cell.hasSound ?? false
  }

  /// Takes what was decided before.
  ///
  /// - Parameter object: a record `route`.
  init(decided object: JSONValue, line: [UInt8]) {
    notice = Notice(object, id: "notification")
    action = object["action"]?.string.flatMap { RouteAction(rawValue: $0) }
    givenState = object["state"]?.string.flatMap { PersonState(rawValue: $0) }
    urgency = notice.urgency.flatMap { NotificationRecord.Urgency(rawValue: $0) }
    hasSound = object["sound"]?.bool == true
    self.line = line
  }

  /// The record `route`, with a LF.
  var record: [UInt8] {
    if let line { return line + [10] }
    let start = RecordText(.route).string("backend", notice.backend)
      .string("profile", notice.profile).string("notification", notice.id)
    guard let route else {
      let bad = start.string("error", "bad-urgency")
      return
        (notice.urgency.map { bad.string("value", $0) }
        ?? bad.json("value", notice.oddUrgency ?? "null")).time(notice.time).line
    }
    return
      start
      .string("category", notice.category).string("title", notice.title)
      .string("text", notice.text).object("about", notice.about.map(Self.object))
      .string("thread", notice.thread).string("place", notice.place)
      .string("state", route.state.rawValue).string("urgency", route.urgency.rawValue)
      .string("action", route.cell.action.rawValue).bool("sound", route.cell.hasSound)
      .string("haptic", route.cell.haptic.rawValue).bool("critical", route.cell.isCritical)
      .stringOrNull("flush", route.cell.flush).string("rule", route.rule)
      .strings("mods", route.mods).bool("past", notice.isPast ? true : nil).time(notice.time)
      .line
  }

  /// The subject as a record has it.
  static func object(_ subject: NotificationRecord.Subject) -> RecordText {
    RecordText().string("type", subject.type).string("id", subject.id)
  }
}
