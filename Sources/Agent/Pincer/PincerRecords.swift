import Core
import Records
import Turns

/// The events of one turn as records, each whole each time it changes.
struct PincerRecords {
  private let origin: RecordOrigin
  private var decoder = PincerTurns()
  private let fold = TurnFold()
  private var scan = RecordScan()

  init(_ origin: RecordOrigin) { self.origin = origin }

  /// Takes an event of the thread, as it came.
  mutating func take(_ message: [UInt8]) -> [ChatNews] {
    var events: [TurnEvent] = []
    message.withUnsafeBytes { bytes in
      guard let line = try? TurnLine(bytes, &scan) else { return }
      _ = decoder.decode(line, into: &events)
    }
    var news: [ChatNews] = []
    for var event in events {
      event.origin = origin
      news += fold.take(event).map { entity in
        switch entity {
        case .thread(let record): .thread(record)
        case .message(let record): .message(record)
        case .turn(let record): .turn(record)
        case .toolCall(let record): .toolCall(record)
        case .approval(let record): .approval(record)
        }
      }
    }
    return news
  }
}
