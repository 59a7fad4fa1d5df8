public import Core

/// What an agent does from a message to its answer.
public struct TurnRecord: ReadableRecord {
  public static let type = RecordType.turn

  /// How far it is.
  public enum State: String, RecordState {
    case queued, running
    /// Waits for a person, perhaps for ever.
    case paused
    case completed
    /// Ended by a person.
    case aborted
    case failed

    public var isEnd: Bool { self == .completed || self == .aborted || self == .failed }
  }

  /// What a model read and wrote.
  public struct Usage: Equatable, Sendable {
    /// Tokens; nil where the backend does not say.
    public var inputTokens: Int?
    /// Tokens; nil where the backend does not say.
    public var outputTokens: Int?

    public init(inputTokens: Int?, outputTokens: Int?) {
      (self.inputTokens, self.outputTokens) = (inputTokens, outputTokens)
    }

    fileprivate var object: RecordText {
      RecordText().number("input_tokens", inputTokens).number("output_tokens", outputTokens)
    }

    fileprivate init?(reading fields: RecordFields?) throws(RecordFields.Fault) {
      guard let fields else { return nil }
      inputTokens = try fields.integer("input_tokens")
      outputTokens = try fields.integer("output_tokens")
    }
  }

  public var origin: RecordOrigin
  public var id: String
  /// The conversation's id.
  public var thread: String
  /// The turn that it is a part of, as a call of a model is. Its cost and tokens are a part
  /// of what that one says.
  public var parent: String?
  /// The id of the call that started it, as that of a subagent does.
  public var toolCall: String?
  /// The agent's id.
  public var agent: String?
  /// How far it is.
  public var state: State
  /// Why it is in that state, a line for people.
  public var reason: String?
  /// The id of the answer.
  public var message: String?
  /// What the models read and wrote.
  public var usage: Usage?
  /// US dollars.
  public var cost: Double?
  /// When it began.
  public var started: Timestamp?
  /// When it ended.
  public var ended: Timestamp?
  /// How long it took, as the agent says.
  public var milliseconds: Int?
  /// Whether it was put into its turn by place and time alone.
  public var isInferred: Bool?
  public var time: Timestamp?

  /// A turn of which no more is known; the rest is set afterwards.
  public init(
    _ origin: RecordOrigin, id: String, thread: String, state: State, time: Timestamp?
  ) {
    (self.origin, self.id, self.thread, self.state, self.time) = (origin, id, thread, state, time)
  }

  public func add(to record: consuming RecordText) -> RecordText {
    record.string("id", id).string("thread", thread).string("parent", parent)
      .string("tool_call", toolCall).string("agent", agent)
      .string("state", state.rawValue).string("reason", reason).string("message", message)
      .object("usage", usage?.object).number("usd_cost", cost)
      .time(started, as: "started").time(ended, as: "ended").number("duration_ms", milliseconds)
      .bool("inferred", isInferred)
  }

  public init(reading fields: RecordFields) throws(RecordFields.Fault) {
    origin = try fields.origin()
    id = try fields.required("id")
    thread = try fields.required("thread")
    parent = try fields.string("parent")
    toolCall = try fields.string("tool_call")
    agent = try fields.string("agent")
    state = try fields.requiredWord("state")
    reason = try fields.string("reason")
    message = try fields.string("message")
    usage = try Usage(reading: fields.object("usage"))
    cost = try fields.number("usd_cost")
    started = try fields.time("started")
    ended = try fields.time("ended")
    milliseconds = try fields.integer("duration_ms")
    isInferred = try fields.bool("inferred")
    time = try fields.time()
  }
}

/// A tool that an agent calls, or means to.
public struct ToolCallRecord: ReadableRecord {
  public static let type = RecordType.toolCall

  /// How far it is.
  public enum State: String, RecordState {
    case planned
    /// A person has to allow it.
    case waitingApproval = "waiting_approval"
    case running, succeeded, failed
    /// A person did not allow it.
    case rejected

    public var isEnd: Bool { self == .succeeded || self == .failed || self == .rejected }
  }

  public var origin: RecordOrigin
  public var id: String
  /// The conversation's id.
  public var thread: String
  /// The turn that it belongs to.
  public var turn: String?
  /// The tool's name.
  public var tool: String
  /// What it does, a line for people.
  public var label: String?
  /// What it was called with: one JSON value, with the bytes that came.
  public var arguments: [UInt8]?
  /// How far it is.
  public var state: State
  /// Why it is in that state, a line for people.
  public var reason: String?
  /// The id of the approval that it waits for or had.
  public var approval: String?
  /// All that it printed so far.
  public var stdout: String?
  /// All that it printed as errors so far.
  public var stderr: String?
  /// What its process ended with.
  public var exitCode: Int?
  /// How long it ran.
  public var milliseconds: Int?
  /// Whether the model got only a part of what it printed.
  public var isTruncated: Bool?
  /// When it began.
  public var started: Timestamp?
  /// When it ended.
  public var ended: Timestamp?
  /// Whether it was put into its turn by place and time alone.
  public var isInferred: Bool?
  public var time: Timestamp?

  /// A call of which no more is known; the rest is set afterwards.
  public init(
    _ origin: RecordOrigin, id: String, thread: String, tool: String, state: State,
    time: Timestamp?
  ) {
    (self.origin, self.id, self.thread, self.tool, self.state) = (origin, id, thread, tool, state)
    self.time = time
  }

  public func add(to record: consuming RecordText) -> RecordText {
    record.string("id", id).string("thread", thread).string("turn", turn).string("tool", tool)
      .string("label", label).json("arguments", bytes: arguments).string("state", state.rawValue)
      .string("reason", reason).string("approval", approval).string("stdout", stdout)
      .string("stderr", stderr).number("exit_code", exitCode).number("duration_ms", milliseconds)
      .bool("truncated", isTruncated).time(started, as: "started").time(ended, as: "ended")
      .bool("inferred", isInferred)
  }

  public init(reading fields: RecordFields) throws(RecordFields.Fault) {
    origin = try fields.origin()
    id = try fields.required("id")
    thread = try fields.required("thread")
    turn = try fields.string("turn")
    tool = try fields.required("tool")
    label = try fields.string("label")
    arguments = fields.json("arguments")
    state = try fields.requiredWord("state")
    reason = try fields.string("reason")
    approval = try fields.string("approval")
    stdout = try fields.string("stdout")
    stderr = try fields.string("stderr")
    exitCode = try fields.integer("exit_code")
    milliseconds = try fields.integer("duration_ms")
    isTruncated = try fields.bool("truncated")
    started = try fields.time("started")
    ended = try fields.time("ended")
    isInferred = try fields.bool("inferred")
    time = try fields.time()
  }
}
