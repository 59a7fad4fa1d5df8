public import Core

/// A conversation with an agent.
public struct ThreadRecord: ReadableRecord {
  public static let type = RecordType.thread

  /// Whether it goes on.
  public enum State: String, RecordState {
    case active, archived

    /// A conversation may be taken up again.
    public var isEnd: Bool { false }
  }

  public var origin: RecordOrigin
  public var id: String
  /// What people call it.
  public var title: String?
  /// Whether it goes on; nil where the backend does not say.
  public var state: State?
  /// The agent's id.
  public var agent: String?
  /// The ids of those who take part.
  public var participants: [String]?
  /// How many messages it has.
  public var messages: Int?
  /// The time of the newest message.
  public var last: Timestamp?
  public var time: Timestamp?

  /// A conversation of which no more is known; the rest is set afterwards.
  public init(_ origin: RecordOrigin, id: String, time: Timestamp?) {
    (self.origin, self.id, self.time) = (origin, id, time)
  }

  public func add(to record: consuming RecordText) -> RecordText {
    record.string("id", id).string("title", title).string("state", state?.rawValue)
      .string("agent", agent).strings("participants", participants).number("messages", messages)
      .time(last, as: "last")
  }

  public init(reading fields: RecordFields) throws(RecordFields.Fault) {
    origin = try fields.origin()
    id = try fields.required("id")
    title = try fields.string("title")
    state = try fields.word("state")
    agent = try fields.string("agent")
    participants = try fields.strings("participants")
    messages = try fields.integer("messages")
    last = try fields.time("last")
    time = try fields.time()
  }
}

/// Something that was said, or is being said.
public struct MessageRecord: ReadableRecord {
  public static let type = RecordType.message

  /// Who speaks.
  public enum Role: String, CaseIterable, Sendable {
    case user, assistant, system
    /// What a tool printed.
    case tool
    /// What the agent thinks to itself.
    case thinking
  }

  /// How far it is.
  public enum State: String, RecordState {
    /// Ours, and not yet sent.
    case queued
    /// Ours, and sent; whether it arrived is not known yet.
    case sent
    /// More of the text may follow.
    case partial
    /// The text is whole.
    case final
    /// Ended before it was whole.
    case aborted
    case failed
    /// Ours, and nobody can say whether it arrived.
    case unconfirmed

    public var isEnd: Bool { self == .final || self == .aborted || self == .failed }
  }

  /// A file or picture that came with a message.
  public struct Attachment: Equatable, Sendable {
    /// The file's name, without a folder.
    public var name: String?
    /// `image/png`.
    public var mediaType: String?
    /// Bytes.
    public var size: Int?
    /// Where it can be had.
    public var url: String?

    public init(
      name: String? = nil, mediaType: String? = nil, size: Int? = nil, url: String? = nil
    ) {
      (self.name, self.mediaType, self.size, self.url) = (name, mediaType, size, url)
    }

    fileprivate var object: RecordText {
      RecordText().string("name", name).string("media_type", mediaType).number("size", size)
        .string("url", url)
    }

    fileprivate init(reading fields: RecordFields) throws(RecordFields.Fault) {
      name = try fields.string("name")
      mediaType = try fields.string("media_type")
      size = try fields.integer("size")
      url = try fields.string("url")
    }
  }

  public var origin: RecordOrigin
  public var id: String
  /// The conversation's id.
  public var thread: String
  /// The turn that it belongs to.
  public var turn: String?
  /// Who speaks.
  public var role: Role
  /// The name or id of who speaks, where the role does not say it.
  public var author: String?
  /// All of the text so far.
  public var text: String
  /// How far it is.
  public var state: State
  /// Why it is in that state, a line for people.
  public var reason: String?
  /// What came with it.
  public var attachments: [Attachment]?
  /// Whether it was put into its turn by place and time alone.
  public var isInferred: Bool?
  public var time: Timestamp?

  /// A message of which no more is known; the rest is set afterwards.
  public init(
    _ origin: RecordOrigin, id: String, thread: String, turn: String? = nil, role: Role,
    text: String, state: State, time: Timestamp?
  ) {
    (self.origin, self.id, self.thread, self.turn) = (origin, id, thread, turn)
    (self.role, self.text, self.state, self.time) = (role, text, state, time)
  }

  public func add(to record: consuming RecordText) -> RecordText {
    record.string("id", id).string("thread", thread).string("turn", turn)
      .string("role", role.rawValue).string("author", author).string("text", text)
      .string("state", state.rawValue).string("reason", reason)
      .objects("attachments", attachments?.map(\.object)).bool("inferred", isInferred)
  }

  public init(reading fields: RecordFields) throws(RecordFields.Fault) {
    origin = try fields.origin()
    id = try fields.required("id")
    thread = try fields.required("thread")
    turn = try fields.string("turn")
    role = try fields.requiredWord("role")
    author = try fields.string("author")
    text = try fields.required("text")
    state = try fields.requiredWord("state")
    reason = try fields.string("reason")
    attachments = try fields.list("attachments") { value throws(RecordFields.Fault) in
      try Attachment(reading: RecordFields(value.bytes))
    }
    isInferred = try fields.bool("inferred")
    time = try fields.time()
  }
}
