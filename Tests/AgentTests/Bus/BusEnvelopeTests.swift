import Core
import Testing

@testable import Bus

@Suite struct BusEnvelopeTests {
  /// The data, the subject and the id.
  private static func read(_ line: String) throws -> [String?] {
    try Array(line.utf8).withUnsafeBytes { bytes in
      let envelope = try BusEnvelope(bytes)
      return [String(decoding: envelope.data, as: UTF8.self), envelope.subject, envelope.id]
    }
  }

  @Test func theDataHasItsBytes() throws {
    let line = #"{"type":"bus_message","seq":3,"subject":"a.b","id":"x-1","data": {"n" : 1.10} }"#
    #expect(try Self.read(line) == [#"{"n" : 1.10}"#, "a.b", "x-1"])
    let bare = #"{"data":{"id":"inner","subject":"*"},"type":"bus_message","subject":null}"#
    #expect(try Self.read(bare) == [#"{"id":"inner","subject":"*"}"#, nil, nil])
  }

  @Test(arguments: [
    (#"{"kind":"k","data":{}}"#, "not a bus_message"),
    (#"{"type":"bus_message"}"#, "no data in it"),
    (#"{"type":"bus_message","subject":"a.*","data":{}}"#, "subject: a wildcard"),
    (#"{"type":"bus_message","subject":1,"data":{}}"#, "subject: not a string"),
    (
      #"{"type":"bus_message","subject":"a\nb","data":{}}"#,
      "subject: not of 1 to 255 characters of ASCII without blanks"
    ),
    (
      #"{"type":"bus_message","id":"a\r\nb","data":{}}"#,
      "id: not of 1 to 128 characters of ASCII without blanks"
    ),
    ("nonsense", "not a JSON object"),
  ])
  func whatCannotBePublished(line: String, reason: String) {
    #expect(throws: Failure(reason)) { try Self.read(line) }
  }
}
