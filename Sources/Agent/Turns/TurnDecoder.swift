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
