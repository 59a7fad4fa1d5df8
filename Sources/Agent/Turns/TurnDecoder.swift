public import Core
public import Records

/// Reads what one backend tells of turns. Pure: no clock, no network.
public protocol TurnDecoder {
  init()

  /// Reads a line.
  ///
  /// - Parameters:
  ///   - line: one record, bare or wrapped as `sse-tail` and `agent-tail` write it.
  ///   - events: what happened is added, in order; perhaps nothing.
  /// - Returns: false when the line is not of this backend, and another is to be asked.
  mutating func decode(_ line: TurnLine, into events: inout [TurnEvent]) -> Bool

  /// Reads a line of the form that comes most, before it is looked at; nil for any other.
  mutating func event(plain bytes: UnsafeRawBufferPointer) -> TurnEvent?

  /// Adds what waited for earlier events, when nothing more is to be read for now.
  mutating func pause(into events: inout [TurnEvent])

  /// Adds what still waited for something that would tell more, at the end of all lines.
  mutating func finish(into events: inout [TurnEvent])
}

extension TurnDecoder {
  /// No form comes so often.
  public mutating func event(plain bytes: UnsafeRawBufferPointer) -> TurnEvent? { nil }

  /// Nothing waits where lines come in their order.
  public mutating func pause(into events: inout [TurnEvent]) {}

  /// Nothing waits where every line tells all there is to it.
  public mutating func finish(into events: inout [TurnEvent]) {}
}

/// Tells of which backend a line is, and reads it.
public struct TurnDecoders {
  /// Of each kind of agent one. Lines mostly come from one of them.
  private var all: [any TurnDecoder] = [
    PincerTurns(), OpenClawTurns(), ClankyTurns(), JoelclawTurns(), ClaudeTurns(),
  ]
  /// Who read the last line: the next one is likely theirs, too.
  private var last = 0

  /// Nothing was read yet.
  public init() {}

  /// As of one `TurnDecoder`.
  public mutating func event(plain bytes: UnsafeRawBufferPointer) -> TurnEvent? {
    all[last].event(plain: bytes)
  }

  /// As of one `TurnDecoder`; false when the line is of none.
  public mutating func decode(_ line: TurnLine, into events: inout [TurnEvent]) -> Bool {
    for offset in all.indices {
      let index = (last + offset) % all.count
      if all[index].decode(line, into: &events) {
        last = index
        return true
      }
    }
    return false
  }

  /// As of one `TurnDecoder`.
  public mutating func pause(into events: inout [TurnEvent]) {
    for index in all.indices { all[index].pause(into: &events) }
  }

  /// As of one `TurnDecoder`.
  public mutating func finish(into events: inout [TurnEvent]) {
    for index in all.indices { all[index].finish(into: &events) }
  }
}

/// A line that has been looked at once. What it tells is valid as long as its bytes are, and
/// until the next line is looked at with the same memory.
public struct TurnLine {
  /// What kind of record it is.
  public let shape: RecordShape
  /// What tells what happened: the wrapper's `data` where that is an object, else the line.
  public let object: ScanValue
  /// Whether `object` is the wrapper's `data`.
  public let isWrapped: Bool
  /// The wrapper's event name, a string; absent where there is none.
  public let eventName: ScanValue
  /// Whose it is, where the line says so.
  public let profile: String?
  /// The whole line.
  public let bytes: UnsafeRawBufferPointer
  private let typeName: ScanValue

  /// Looks at a line.
  ///
  /// - Parameter bytes: one object with optional white space around it.
  public init(_ bytes: UnsafeRawBufferPointer, _ scan: inout RecordScan) throws(ScanFault) {
    shape = try scan.read(bytes)
    self.bytes = bytes
    // A frame with a type of its own may have data, too, and is no wrapper.
    let data = scan.data
    isWrapped = data.isObject && shape != .own
    object = isWrapped ? data : scan.object
    eventName = scan.event.isString ? scan.event : .absent
    typeName = scan.type.isString ? scan.type : .absent
    profile = scan.profile.string
  }

  /// The wrapper's event name; empty where there is none.
  public var event: String { eventName.string ?? "" }

  /// The wrapper's id; empty where there is none.
  public var id: String { outer(.id).string ?? "" }

  /// The `type` of the line itself; empty where there is none.
  public var type: String { typeName.string ?? "" }

  /// When the line was received, where the wrapper says so.
  public var received: Timestamp? {
    isWrapped ? outer(.received).rawText.flatMap { Timestamp(rfc3339: $0) } : nil
  }

  private enum Outer: Sendable { case id, received, data }
  private static let names = NameTable<Outer>([
    ("id", .id), ("received_at", .received), ("data", .data),
  ])

  private func outer(_ name: Outer) -> ScanValue {
    guard var members = try? ScanMembers(bytes) else { return .absent }
    while (try? members.next()) == true {
      guard let found = Self.names[members.key] else { continue }
      if found == name { return members.value }
      if found == .data { break }
    }
    return .absent
  }

  /// `object`, parsed; nil when it nests too deep.
  public var value: JSONValue? { try? JSONValue.parse(object.bytes) }

  /// Whether it nests deeper than can be parsed: what it tells is not known.
  public var isTooDeep: Bool {
    bytes.count > JSONValue.deepest && ScanValidator.depth(of: bytes) > JSONValue.deepest
  }

  /// The reason why such a line is bad.
  public static let tooDeep = "nested too deep"

  /// The record's origin.
  public func origin(_ backend: RecordOrigin.Backend) -> RecordOrigin {
    RecordOrigin(backend, profile: profile)
  }
}

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
