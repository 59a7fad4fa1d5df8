import Core
import Records

/// What turns cost, as turn-fold(1) tells it: the last that it says of each, as an action of the
/// kind `turn`.
public struct TurnCosts {
  private var turns: [TurnRecord] = []
  private var known: [String: Int] = [:]

  private enum Member: Int, ScanName {
    case type, backend
    static let table = NameTable<Member>()
  }

  public init() {}

  /// Whether a line is a turn.
  public static func isLine(_ line: UnsafeRawBufferPointer) -> Bool {
    let fields = ScanFields<Member>(line)
    return fields[.backend].isString
      && fields[.type].rawText?.elementsEqual(TurnRecord.type.rawValue.utf8) == true
  }

  /// Takes a line that is a turn.
  ///
  /// - Returns: false where it cannot be read.
  public mutating func receive(_ line: UnsafeRawBufferPointer) -> Bool {
    guard let fields = try? RecordFields(line), let turn = try? TurnRecord(reading: fields) else {
      return false
    }
    // What its parts took is among what a turn took, but in a transcript, where each has its own.
    if turn.parent != nil, turn.origin.backend != .claude { return true }
    let key = "\(turn.origin.profile ?? "")/\(turn.thread)/\(turn.id)"
    if let number = known[key] {
      turns[number] = turn
    } else {
      known[key] = turns.count
      turns.append(turn)
    }
    return true
  }

  /// Hands over an action for each turn that cost something or took tokens.
  public func forEachAction<Fault: Error>(
    _ receive: (UnsafeRawBufferPointer) throws(Fault) -> Void
  ) throws(Fault) {
    for turn in turns where turn.cost != nil || turn.usage != nil {
      let usage = RecordText().number("input_tokens", turn.usage?.inputTokens)
        .number("output_tokens", turn.usage?.outputTokens)
      let metadata = RecordText().string("agent", turn.agent ?? turn.origin.backend.rawValue)
        .string("sessionId", turn.thread).object("usage", usage)
      let action = RecordText().string("id", "\(turn.thread)/\(turn.id)")
        .time(turn.started ?? turn.time, as: "created_at").string("kind", "turn")
        .object("metadata", metadata).number("usd_cost", turn.cost)
        .string("profile", turn.origin.profile)
      try action.bytes.scan(receive)
    }
  }
}
