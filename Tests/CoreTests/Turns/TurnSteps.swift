import Core
import Records

@testable import Turns

/// Lines in, records or a state out: what the tests of the fold are written in.
struct Folded {
  /// All records that were told, in order.
  var told: [JSONValue] = []
  /// One for each thread.
  var states: [JSONValue] = []
  var state: JSONValue? { states.last }

  /// - Parameters:
  ///   - lines: JSON, read by one decoder.
  ///   - keepsAll: whether for the state.
  init<Decoder: TurnDecoder>(
    _ lines: [String], by decoder: Decoder.Type, keepsAll: Bool = true
  ) throws {
    var decoder = Decoder()
    var scan = RecordScan()
    let fold = TurnFold(keepsAll: keepsAll)
    func receive(_ events: [TurnEvent]) throws {
      for event in events {
        for entity in fold.receive(event) { told.append(try JSONValue.parse(text: entity.line)) }
      }
    }
    for text in lines {
      var events: [TurnEvent] = []
      try Array(text.utf8).withUnsafeBytes { bytes in
        _ = decoder.decode(try TurnLine(bytes, &scan), into: &events)
      }
      try receive(events)
    }
    var rest: [TurnEvent] = []
    decoder.finish(into: &rest)
    try receive(rest)
    states = try fold.states.map { state in
      try state.withUnsafeBytes { bytes in try JSONValue.parse(bytes) }
    }
  }

  /// The last record of a type, and of an id.
  func last(_ type: String, _ id: String? = nil) -> JSONValue? {
    told.last { $0["type"]?.string == type && (id == nil || $0["id"]?.string == id) }
  }

  /// The states that the records of an id went through, each once.
  func states(_ id: String) -> [String] {
    told.filter { $0["id"]?.string == id }.compactMap { $0["state"]?.string }
      .reduce(into: []) { if $0.last != $1 { $0.append($1) } }
  }
}

extension ConversationRecord {
  var line: String { String(decoding: record.bytes, as: UTF8.self) }
}

/// Events of a Pincer thread `t`, numbered as they are made.
struct PincerLines {
  private(set) var lines: [String] = []
  private var count = 0

  /// - Parameters:
  ///   - payload: `"turnStarted":{}`.
  ///   - turn: the turn's id.
  ///   - more: more members, each with a comma behind it.
  mutating func add(_ payload: String, turn: String = "u", more: String = "") {
    count += 1
    let second = count < 10 ? "0\(count)" : "\(count)"
    lines.append(
      """
      {"eventId":"e\(count)","threadId":"t","turnId":"\(turn)","sequence":"\(count)",\
      "occurredAt":"2026-01-01T00:00:\(second)Z",\(more)\(payload)}
      """)
  }
}
