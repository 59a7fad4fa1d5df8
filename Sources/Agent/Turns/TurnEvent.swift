public import Core
public import Records

/// One thing that happened, in words that all backends share: what a `TurnDecoder` makes of
/// a line, and what a `TurnFold` takes.
public struct TurnEvent: Sendable {
  /// Whose it is.
  public var origin: RecordOrigin
  /// The conversation's id; empty where the event names none.
  public var thread: String
  /// The event's own id, by which a second copy is known; empty where it has none.
  public var id = ""
  /// Its number among the events of its thread; 0 where the backend does not count them.
  public var sequence: Int64 = 0
  /// When it happened.
  public var time: Timestamp?
  /// The turn's id; empty where the event names none: then it is about the active one.
  /// Beside a part of a record it says that the turn goes on: one that is not known is made.
  public var turn = ""
  /// The line that a part of a record came in, where it was a record of ours: it is told
  /// again as it is.
  public var original: [UInt8]?
  /// What happened.
  public var change: TurnChange

  /// An event of which no more is known; the rest is set afterwards.
  public init(
    _ origin: RecordOrigin, thread: String, turn: String = "", time: Timestamp?,
    _ change: TurnChange
  ) {
    (self.origin, self.thread, self.turn) = (origin, thread, turn)
    (self.time, self.change) = (time, change)
  }
}

/// What may happen.
///
/// There are two kinds. The small steps, which say what happened and leave it to the fold
/// what that means, are for backends that tell their turns step by step. What is `set` is
/// part of a record: members that are nil leave what is known as it is, others replace it,
/// and a state counts where `mayBecome` lets it. A backend may use both for the same ids.
/// Records are indirect, so that the steps, of which there are many, stay small.
public enum TurnChange: Sendable {
  // MARK: Steps

  /// A turn began, with a message of a person; its id, empty where nobody says.
  case started(message: String)
  /// A turn ended; the id of its answer, and why it is no answer where it says so itself.
  case completed(message: String?, failure: String? = nil)
  /// A turn failed: a word for machines, and why, in a line. Either may be empty.
  case failed(code: String, reason: String)
  /// A turn was ended by a person; why, in a line.
  case aborted(reason: String?)
  /// A turn waits for a person.
  case paused
  /// A turn goes on after a pause.
  case resumed
  /// A piece of what the agent thinks. `segment` tells texts apart where no turn is named.
  case thinking(String, segment: String, isRedacted: Bool)
  /// A piece of what the agent says.
  case text(String, segment: String)
  /// What the agent said is whole: its id, and all of the text; empty for the pieces that came.
  case committed(message: String, text: String)
  /// The agent means to use a tool; what with: one JSON value with the bytes that came.
  case planned(call: String, tool: String, arguments: [UInt8]?)
  /// A tool began to run: `command` is a line for people, empty where there is none.
  case executionStarted(String, call: String, tool: String, command: String)
  /// A tool printed something.
  case output(execution: String, isError: Bool, TurnOutput)
  /// A tool ended.
  case executionFinished(String, TurnExecutionEnd)
  /// A person is asked; the approval's `toolCall` is found by the fold.
  indirect case proposed(ApprovalRecord)
  /// What a person answered, or what else became of an approval; why, empty where nobody
  /// says.
  case decided(approval: String, ApprovalRecord.State, reason: String)
  /// Nothing that a record says, but an event all the same: its id and its number count.
  case nothing

  // MARK: Parts of records

  /// Something about a conversation.
  indirect case setThread(ThreadRecord)
  /// Something about a message. `record.text` is what `text` says it is.
  indirect case setMessage(MessageRecord, text: TurnText)
  /// Something about a turn. Tokens and cost are added to those known before where
  /// `addsCost` is true.
  indirect case setTurn(TurnRecord, addsCost: Bool = false)
  /// Something about a call of a tool. `stdout` and `stderr` are all of what was printed.
  indirect case setToolCall(ToolCallRecord)
  /// Something about an approval.
  indirect case setApproval(ApprovalRecord)

  var isStep: Bool {
    switch self {
    case .setThread, .setMessage, .setTurn, .setToolCall, .setApproval: false
    default: true
    }
  }
}

/// What the text of a `setMessage` is.
public enum TurnText: Sendable {
  case whole
  /// What is to be appended.
  case appended
  /// Nothing: the text stays as it is.
  case unchanged
}

/// What a tool printed.
public enum TurnOutput: Sendable {
  /// UTF-8, which may be cut anywhere.
  case text([UInt8])
  /// So many bytes that are not text.
  case binary(Int)
}

/// How a tool ended.
public struct TurnExecutionEnd: Sendable {
  /// What its process ended with.
  public var exitCode: Int
  /// How long it ran.
  public var milliseconds: Int
  /// Whether it was ended because it took too long.
  public var isTimedOut: Bool
  /// Whether the model got only a part of what it printed.
  public var isTruncated: Bool
}
