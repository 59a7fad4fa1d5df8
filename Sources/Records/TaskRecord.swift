public import Core

/// Something to be done, or done again and again.
public struct TaskRecord: AgentRecord {
  public static let type = RecordType.task

  /// How far it is.
  public enum State: String, RecordState {
    /// To be done; a schedule or an automation is open as long as it is active.
    case open
    /// Cannot go on yet.
    case waiting
    case running, done, failed, cancelled

    public var isEnd: Bool { self == .done || self == .failed || self == .cancelled }
  }

  /// Who does it, and when.
  public enum Kind: String, CaseIterable, Sendable {
    /// A person, or an agent when it is asked.
    case task
    /// An agent, by itself.
    case job
    /// An agent, at its times.
    case schedule
    /// An agent, when something happens.
    case automation
  }

  public var origin: RecordOrigin
  public var id: String
  /// What is to be done, in a line.
  public var title: String
  /// How far it is.
  public var state: State
  /// Who does it, and when.
  public var kind: Kind
  /// 1, the most urgent, to 4.
  public var priority: Int?
  /// The name or id of what it belongs to.
  public var project: String?
  /// A date, or a time of RFC 3339.
  public var due: String?
  /// The name or id of who is to do it.
  public var assignee: String?
  /// Words that people sort by.
  public var labels: [String]?
  /// More about it, or how it goes.
  public var notes: String?
  /// The conversation in which it is done.
  public var thread: String?
  /// When it runs next.
  public var next: Timestamp?
  /// When it ran last.
  public var last: Timestamp?
  public var time: Timestamp?

  /// A task of which no more is known; the rest is set afterwards.
  public init(
    _ origin: RecordOrigin, id: String, title: String, state: State, kind: Kind,
    time: Timestamp?
  ) {
    (self.origin, self.id, self.title, self.state, self.kind) = (origin, id, title, state, kind)
    self.time = time
  }

  public func add(to record: consuming RecordText) -> RecordText {
    record.string("id", id).string("title", title).string("state", state.rawValue)
      .string("kind", kind.rawValue).number("priority", priority).string("project", project)
      .string("due", due).string("assignee", assignee).strings("labels", labels)
      .string("notes", notes).string("thread", thread).time(next, as: "next")
      .time(last, as: "last")
  }
}

/// Something that a person may want to know.
public struct NotificationRecord: AgentRecord {
  public static let type = RecordType.notification

  /// How soon, the most urgent first.
  public enum Urgency: String, CaseIterable, Sendable {
    case emergency, urgent, attention, info, noise
  }

  /// The record that it is about.
  public struct Subject: Equatable, Sendable {
    public var type: String
    public var id: String

    /// - Parameters:
    ///   - type: of a record: `task`, `turn`, `action`.
    ///   - id: that of the record.
    public init(type: String, id: String) {
      (self.type, self.id) = (type, id)
    }

    fileprivate var object: RecordText { RecordText().string("type", type).string("id", id) }
  }

  public var origin: RecordOrigin
  public var id: String
  /// How soon it matters.
  public var urgency: Urgency
  /// A word that people mute by: `system`.
  public var category: String
  /// What it says, in a line.
  public var title: String
  /// More about it.
  public var text: String?
  /// The record that it is about.
  public var about: Subject?
  /// The conversation's id.
  public var thread: String?
  public var time: Timestamp?

  /// A notification of which no more is known; the rest is set afterwards.
  public init(
    _ origin: RecordOrigin, id: String, urgency: Urgency, category: String, title: String,
    time: Timestamp?
  ) {
    (self.origin, self.id, self.urgency, self.category) = (origin, id, urgency, category)
    (self.title, self.time) = (title, time)
  }

  public func add(to record: consuming RecordText) -> RecordText {
    record.string("id", id).string("urgency", urgency.rawValue).string("category", category)
      .string("title", title).string("text", text).object("about", about?.object)
      .string("thread", thread)
  }
}
