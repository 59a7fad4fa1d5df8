import Core
import Records
import Turns

struct TurnSources {
  private var decoders = TurnDecoders()
  private var scan = RecordScan()
  private var events: [TurnEvent] = []
  /// How many lines of transcripts have a type that is unknown, by the type; nil where nobody asks.
  private(set) var unknown: [String: Int]?
  private static let mostUnknown = 100

  init(countsUnknown: Bool) { unknown = countsUnknown ? [:] : nil }

  enum Line {
    case event(TurnEvent)
    case events([TurnEvent])
    /// A record of ours that a later version made: nothing is known of it.
    case unknown
    case other
    case bad(String)
  }

  mutating func read(_ bytes: UnsafeRawBufferPointer) -> Line {
    if let event = decoders.event(plain: bytes) { return .event(event) }
    let line: TurnLine
    do throws(ScanFault) {
      line = try TurnLine(bytes, &scan)
    } catch {
      return error == .empty ? .other : .bad(error.reason)
    }
    if line.shape == .own, let own = Self.own(line) { return own }
    if unknown != nil, let type = ClaudeTurns.unknownType(line) { count(type) }
    events.removeAll(keepingCapacity: true)
    let isRead = decoders.decode(line, into: &events)
    if events.isEmpty, line.isTooDeep { return .bad(TurnLine.tooDeep) }
    return isRead ? .events(events) : .other
  }

  private mutating func count(_ type: String) {
    guard let types = unknown else { return }
    let isFull = types.count >= Self.mostUnknown && types[type] == nil
    unknown?[isFull ? "others" : type, default: 0] += 1
  }

  /// What waited for earlier events, when nothing more is to be read for now.
  mutating func pause() -> [TurnEvent] {
    events.removeAll(keepingCapacity: true)
    decoders.pause(into: &events)
    return events
  }

  /// What still waited for something that would tell more, at the end of all lines.
  mutating func finish() -> [TurnEvent] {
    events.removeAll(keepingCapacity: true)
    decoders.finish(into: &events)
    return events
  }

  /// Reads a record of ours; nil for what is none, or of a type that is nothing of turns.
  private static func own(_ line: TurnLine) -> Line? {
    do throws(RecordFields.Fault) {
      guard let record = try ConversationRecord(reading: line.bytes) else { return nil }
      // It is to be told again as it is.
      guard UTF8Text.isValid(line.bytes) else { return .bad("not UTF-8") }
      let change: TurnChange =
        switch record {
        case .thread(let thread): .setThread(thread)
        case .message(let message): .setMessage(message, text: .whole)
        case .turn(let turn): .setTurn(turn)
        case .toolCall(let call): .setToolCall(call)
        case .approval(let approval): .setApproval(approval)
        }
      var event = TurnEvent(
        record.record.origin, thread: record.thread ?? "", time: record.record.time, change)
      event.original = Array(line.bytes) + [10]
      return .event(event)
    } catch {
      guard error.isNews else { return .bad(error.reason) }
      return UTF8Text.isValid(line.bytes) ? .unknown : .bad("not UTF-8")
    }
  }
}
