import Core
import Testing

@testable import Web

/// Envelopes of a Connect stream, whole and cut anywhere.
@Suite struct EnvelopeReaderTests {
  private static func envelope(_ flags: UInt8, _ text: String) -> [UInt8] {
    var bytes = EnvelopeReader.envelope(Array(text.utf8))
    bytes[0] = flags
    return bytes
  }

  /// What a reader finds in bytes that come in pieces.
  private static func read(_ pieces: [ArraySlice<UInt8>], limit: Int = 100) -> [EnvelopeReader.Item]
  {
    var reader = EnvelopeReader(limit: limit)
    var items: [EnvelopeReader.Item] = []
    for piece in pieces {
      piece.withUnsafeBytes { bytes in
        var rest = UnsafeRawBufferPointer(bytes)
        while let item = reader.next(&rest) { items.append(item) }
      }
    }
    return items
  }

  private static let big = String(repeating: "a", count: 300)

  /// Bytes, and what they are with a limit of 100 bytes.
  private static let streams: [([UInt8], [EnvelopeReader.Item])] = [
    // The example of Agent/Pincer/CONTRACT.md 1.2.
    (
      [0, 0, 0, 0, 20] + Array(#"{"threadId":"thr_1"}"#.utf8) + [2, 0, 0, 0, 2, 0x7b, 0x7d],
      [.message(Array(#"{"threadId":"thr_1"}"#.utf8)), .end(Array("{}".utf8))]
    ),
    (
      envelope(0, "") + envelope(0, "{\n}") + envelope(2, ""),
      [
        .message([]), .message(Array("{\n}".utf8)), .end([]),
      ]
    ),
    // Nothing counts behind the end, and nothing is an end that was cut.
    (envelope(2, "{}") + envelope(0, "late"), [.end(Array("{}".utf8))]),
    (Array(envelope(0, "ab") + envelope(2, "{}").dropLast()), [.message(Array("ab".utf8))]),
    // What is too large is passed over, and what follows is read.
    (
      envelope(0, big) + envelope(0, "b") + envelope(0, big),
      [
        .oversize(300), .message([98]), .oversize(300),
      ]
    ),
    (envelope(2, big), [.fault("a last envelope of 300 bytes")]),
    (envelope(1, "x"), [.fault("a compressed message, which was not asked for")]),
    (envelope(3, "x"), [.fault("a compressed message, which was not asked for")]),
    (Array("{\"a\":1}".utf8), [.fault("not an envelope: it begins with the byte 123")]),
    (
      envelope(0, "a") + envelope(4, "b"),
      [
        .message([97]), .fault("not an envelope: it begins with the byte 4"),
      ]
    ),
  ]

  @Test(arguments: streams.indices)
  func whole(index: Int) {
    let (bytes, items) = Self.streams[index]
    #expect(Self.read([bytes[...]]) == items)
  }

  @Test(arguments: streams.indices)
  func cutAnywhere(index: Int) {
    let (bytes, items) = Self.streams[index]
    #expect(Self.read(bytes.indices.map { bytes[$0...$0] }) == items)
    for cut in bytes.indices {
      #expect(Self.read([bytes[..<cut], bytes[cut...]]) == items)
    }
  }

  @Test func aLengthAloneTakesNoMemory() {
    #expect(Self.read([[0, 255, 255, 255, 255, 1, 2, 3][...]], limit: .max).isEmpty)
  }

  @Test func aMessageInItsEnvelope() {
    let message = [UInt8](repeating: 7, count: 0x01_02_03)
    #expect(EnvelopeReader.envelope(message).prefix(5) == [0, 0, 1, 2, 3])
    #expect(EnvelopeReader.envelope([]) == [0, 0, 0, 0, 0])
  }
}

/// What refusals mean.
@Suite struct ConnectErrorTests {
  private func error(_ text: String) throws -> ConnectError? {
    ConnectError(reading: try JSONValue.parse(text: text))
  }

  @Test func isRead() throws {
    #expect(try error(#"{"code":"not_found","message":"no"}"#) == ConnectError(.notFound, "no"))
    #expect(try error(#"{"code":"odd"}"#) == ConnectError(.unknown, ""))
    #expect(try error(#"{"error":"unauthorized"}"#) == nil)
    #expect(try error(#"[]"#) == nil)
    #expect(ConnectError(reading: nil) == nil)
  }

  @Test func aCodeIsAStatus() {
    let codes = Dictionary(grouping: ConnectError.Code.allCases, by: \.status)
    #expect(codes[.denied]?.count == 2)
    #expect(codes[.negative] == [.notFound, .alreadyExists, .failedPrecondition])
    #expect(codes[.failure] == [.invalidArgument, .outOfRange, .unimplemented, .dataLoss])
    #expect(ConnectError.Code.internal.status == .temporary)
    #expect(!ConnectError.Code.internal.meansUndone)
    #expect(ConnectError.Code.resourceExhausted.meansUndone)
    #expect(ConnectError.Code.unauthenticated.meansUndone)
  }
}
