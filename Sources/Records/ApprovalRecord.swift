public import Core

/// Something that an agent may only do when a person allows it.
public struct ApprovalRecord: ReadableRecord {
  public static let type = RecordType.approval

  /// What became of it.
  public enum State: String, RecordState {
    case pending, approved, rejected
    /// Nobody answered in time.
    case expired
    /// It is not wanted any more.
    case cancelled
    /// Approved, and done.
    case executed

    public var isEnd: Bool { self != .pending && self != .approved }

    /// What was approved may only be done; nothing takes it back.
    public func mayBecome(_ next: Self) -> Bool {
      switch self {
      case .pending: true
      case .approved: next == .approved || next == .executed
      default: next == self
      }
    }
  }

  public var origin: RecordOrigin
  public var id: String
  /// The conversation's id.
  public var thread: String?
  /// The turn that waits for it.
  public var turn: String?
  /// The call that waits for it.
  public var toolCall: String?
  /// The tool's name.
  public var tool: String
  /// How bad it may be, in the backend's words.
  public var risk: String?
  /// What would be done, for people. The model may have written it: nothing is decided by it.
  public var summary: String?
  /// What would be done: the backend's object, with the bytes that came.
  public var request: [UInt8]
  /// What may be answered, in the backend's words.
  public var decisions: [String]
  /// What became of it.
  public var state: State
  /// What was answered, one of `decisions`.
  public var decision: String?
  /// Who answered.
  public var by: String?
  /// Why it is in that state, a line for people.
  public var reason: String?
  /// When it is too late to answer.
  public var expires: Timestamp?
  public var time: Timestamp?

  /// An approval of which no more is known; the rest is set afterwards.
  public init(
    _ origin: RecordOrigin, id: String, tool: String, request: [UInt8], decisions: [String],
    state: State, time: Timestamp?
  ) {
    (self.origin, self.id, self.tool, self.request) = (origin, id, tool, request)
    (self.decisions, self.state, self.time) = (decisions, state, time)
  }

  public func add(to record: consuming RecordText) -> RecordText {
    record.string("id", id).string("thread", thread).string("turn", turn)
      .string("tool_call", toolCall).string("tool", tool).string("risk", risk)
      .string("summary", summary).json("request", bytes: request).strings("decisions", decisions)
      .string("state", state.rawValue).string("decision", decision).string("by", by)
      .string("reason", reason).time(expires, as: "expires")
  }

  public init(reading fields: RecordFields) throws(RecordFields.Fault) {
    origin = try fields.origin()
    id = try fields.required("id")
    thread = try fields.string("thread")
    turn = try fields.string("turn")
    toolCall = try fields.string("tool_call")
    tool = try fields.required("tool")
    risk = try fields.string("risk")
    summary = try fields.string("summary")
    guard let request = fields.json("request") else {
      throw RecordFields.Fault(missing: "request")
    }
    self.request = request
    decisions = try fields.strings("decisions") ?? []
    state = try fields.requiredWord("state")
    decision = try fields.string("decision")
    by = try fields.string("by")
    reason = try fields.string("reason")
    expires = try fields.time("expires")
    time = try fields.time()
  }
}

/// What came of an answer to an approval.
public struct ApprovalAnswer: AgentRecord {
  public static let type = RecordType.approvalAnswer

  /// What the backend made of it.
  public enum Result: String, CaseIterable, Sendable {
    /// It counts.
    case accepted
    /// The same had been answered before.
    case already
    /// Something else had been answered before, or it had expired.
    case late
    case notFound = "not_found"
    /// The backend did not take it.
    case refused
    /// No reply came: it may count or not.
    case unknown
  }

  public var origin: RecordOrigin
  /// The approval's id.
  public var id: String
  /// What was answered, in the backend's words.
  public var decision: String
  /// What the backend made of it.
  public var result: Result
  /// Why, a line for people.
  public var reason: String?
  public var time: Timestamp?

  /// An answer; `reason` is set afterwards.
  public init(
    _ origin: RecordOrigin, id: String, decision: String, result: Result, time: Timestamp?
  ) {
    (self.origin, self.id, self.decision, self.result) = (origin, id, decision, result)
    self.time = time
  }

  public func add(to record: consuming RecordText) -> RecordText {
    record.string("id", id).string("decision", decision).string("result", result.rawValue)
      .string("reason", reason)
  }
}

/// What somebody, or a filter, decided of an approval: a record `approval` to which a
/// `decision` was added, an `approval_answer`, or an object with only `id` and `decision`.
public struct ApprovalDecision: Equatable, Sendable {
  /// The approval's id.
  public let id: String
  /// As it was spelled; the backend says what it understands.
  public let decision: String
  /// What the agent is told.
  public let reason: String?
  /// Whose approval it is, where the record says so.
  public let profile: String?
  /// What may be answered, where the record says so; else empty.
  public let decisions: [String]
  /// What is answered to questions, one for each: choices, or words of one's own. Where there are
  /// none, `decision` is a choice.
  public let answers: [String]
  /// What is to be done instead of what was asked for: the tool's input, as JSON; nil for that.
  public let input: [UInt8]?

  /// A decision of the command line.
  ///
  /// - Parameters:
  ///   - decision: as it was spelled.
  ///   - reason: what the agent is told; nil for nothing.
  ///   - input: what is to be done instead, as JSON; nil for what was asked for.
  public init(id: String, decision: String, reason: String? = nil, input: [UInt8]? = nil) {
    (self.id, self.decision, self.reason, self.input) = (id, decision, reason, input)
    (profile, decisions, answers) = (nil, [], [])
  }

  /// The answers to questions, in their order.
  public init(id: String, answers: [String]) {
    (self.id, self.answers, decision) = (id, answers, answers.joined(separator: "; "))
    (profile, decisions, reason, input) = (nil, [], nil, nil)
  }

  /// - Parameters:
  ///   - decision: what was decided, whatever the record says; nil where it is to say it.
  ///   - reason: what the agent is told then.
  /// - Throws: a `Failure`, also for an approval that is not pending: its `decision` was
  ///   made by someone before.
  public init(
    reading record: JSONValue, as decision: String? = nil, reason given: String? = nil
  ) throws(Failure) {
    guard record.isObject else { throw Failure("not a JSON object") }
    switch record["type"]?.string {
    case RecordType.approval.rawValue:
      let state = record[either: "state"]?.string ?? ApprovalRecord.State.pending.rawValue
      guard state == ApprovalRecord.State.pending.rawValue else {
        throw Failure("the approval is not pending any more")
      }
    case RecordType.approvalAnswer.rawValue, nil: break
    default: throw Failure("neither an approval nor a decision")
    }
    id = try Self.word("id", of: record)
    if let decision {
      (self.decision, self.reason, answers) = (decision, given, [])
    } else {
      if let list = record[either: "answers"] {
        answers = list.elements.compactMap(\.string)
        guard list.count == answers.count, !answers.isEmpty else {
          throw Failure("the answers are not strings")
        }
        self.decision = answers.joined(separator: "; ")
      } else {
        answers = []
        self.decision = try Self.word("decision", of: record)
      }
      let reason = record[either: "reason"]
      guard reason == nil || reason?.string != nil else {
        throw Failure("the reason is not a string")
      }
      self.reason = reason?.string
    }
    let changed = decision == nil ? record[either: "input"] : nil
    guard changed?.isObject != false else { throw Failure("the input is not an object") }
    input = changed.map { Array($0.compact().utf8) }
    profile = record["profile"]?.string
    decisions = record["decisions"]?.elements.compactMap(\.string) ?? []
  }

  private static func word(_ name: String, of record: JSONValue) throws(Failure) -> String {
    guard let value = record[either: name] else { throw Failure("has no \(name)") }
    guard let text = value.string, !text.isEmpty else {
      throw Failure("the \(name) is not a string, or is empty")
    }
    return text
  }
}
