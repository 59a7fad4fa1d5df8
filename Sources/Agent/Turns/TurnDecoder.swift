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

  /// Adds what still waited for something that would tell more, at the end of all lines.
  mutating func finish(into events: inout [TurnEvent])
}

extension TurnDecoder {
  /// Nothing waits where every line tells all there is to it.
  public mutating func finish(into events: inout [TurnEvent]) {}
}

/// A line that has been looked at once. Its slices are valid as long as its bytes are.
public struct TurnLine {
  /// What kind of record it is.
  public let shape: RecordShape
  /// What tells what happened: the wrapper's `data` where that is an object, else the line.
  public let object: ScanValue
  /// Whether `object` is the wrapper's `data`.
  public let isWrapped: Bool
  /// The wrapper's event name; empty where there is none.
  public let event: String
  /// The wrapper's id; empty where there is none.
  public let id: String
  /// The `type` of a line that is no wrapper; empty where there is none.
  public let type: String
  /// Whose it is, where the line says so.
  public let profile: String?
  /// The whole line.
  public let bytes: UnsafeRawBufferPointer

  /// Looks at a line.
  ///
  /// - Parameters:
  ///   - bytes: one object with optional white space around it.
  ///   - scan: memory that is used again and again.
  /// - Throws: `ScanFault` when it is not a JSON object.
  public init(_ bytes: UnsafeRawBufferPointer, _ scan: inout RecordScan) throws(ScanFault) {
    shape = try scan.read(bytes)
    self.bytes = bytes
    let data = scan.data
    isWrapped = data.isObject
    object = data.isObject ? data : scan.object
    event = scan.event.isString ? scan.event.string ?? "" : ""
    type = scan.type.isString ? scan.type.string ?? "" : ""
    profile = scan.profile.string
    id = scan.fields.id.string ?? ""
  }

  /// `object`, parsed; nil when it nests too deep.
  public var value: JSONValue? { try? JSONValue.parse(object.bytes) }

  /// The record's origin.
  public func origin(_ backend: RecordOrigin.Backend) -> RecordOrigin {
    RecordOrigin(backend, profile: profile)
  }
}
