import Core
import Records
import Testing

@testable import Turns

/// The sample turns of Tests/fixtures/pincer-turns.ndjson.
struct PincerVector: CustomTestStringConvertible {
  let name: String
  let value: JSONValue

  var testDescription: String { name }
  var expected: JSONValue? { value["expect"]?["recommended"]?["state"] }
  var thread: String { value["fallback_thread_id"]?.string ?? "" }

  static let all: [PincerVector] = {
    // Tests/CoreTests/Turns/NAME is four levels below the folder that has Tests/.
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
    let path = root.joined(separator: "/") + "/Tests/fixtures/pincer-turns.ndjson"
    guard var file = try? RecordInput(path: path) else { return [] }
    var vectors: [PincerVector] = []
    while let line = try? file.next() {
      guard let value = try? JSONValue.parse(line.bytes), let name = value["id"]?.string else {
        continue
      }
      vectors.append(PincerVector(name: name, value: value))
    }
    return vectors
  }()

  /// Folds the events, each so many times where it has an id.
  func folded(times: Int) throws -> JSONValue? {
    let fold = TurnFold(keepsAll: true)
    let origin = RecordOrigin(.pincer)
    let messages = (value["init"]?["messages"]?.elements ?? []).compactMap { message in
      message["id"]?.string.map { id in
        MessageRecord(
          origin, id: id, thread: thread,
          role: message["role"]?.string.flatMap { MessageRecord.Role(rawValue: $0) } ?? .user,
          text: message["content"]?.string ?? "", state: .final,
          time: message["created_at"]?.string.flatMap { Timestamp(rfc3339: $0) })
      }
    }
    fold.begin(
      origin, thread: thread, messages: messages,
      lastSequence: value["init"]?["last_sequence"]?.integer ?? 0)
    var decoder = PincerTurns()
    for event in value["events"]?.elements ?? [] {
      let bytes = Array(event.compact().utf8)
      let hasID = event[either: "eventId", "event_id"] != nil
      for _ in 0..<(hasID ? times : 1) {
        let read = bytes.withUnsafeBytes { decoder.event($0, origin: origin) }
        _ = fold.receive(try #require(read))
      }
    }
    return try fold.states.last?.withUnsafeBytes { try JSONValue.parse($0) }
  }
}

/// A state by the rules of Agent/Pincer/CONTRACT.md 6: members that are not expected do not
/// count, nor does the difference between null, "", false and nothing.
enum NormalForm {
  static func differences(_ got: JSONValue?, _ wanted: JSONValue, _ path: String = "") -> [String] {
    switch wanted.kind {
    case .object:
      return wanted.members.flatMap { name, value in
        differences(got?[name], value, "\(path).\(name)")
      }
    case .array:
      let elements = got?.elements ?? []
      guard elements.count == wanted.count else {
        return ["\(path): \(elements.count) elements and not \(wanted.count)"]
      }
      return zip(elements, wanted.elements).enumerated().flatMap { index, pair in
        differences(pair.0, pair.1, "\(path)[\(index)]")
      }
    case .integer, .real:
      let isEqual = got?.number == wanted.number
      return isEqual ? [] : ["\(path): \(got?.compact() ?? "nothing"), not \(wanted.compact())"]
    case .null, .bool, .string:
      let (mine, theirs) = (flat(got), flat(wanted))
      return mine == theirs ? [] : ["\(path): \(mine), not \(theirs)"]
    }
  }

  private static func flat(_ value: JSONValue?) -> String {
    guard let text = value?.text, text != "false" else { return "" }
    guard let time = Timestamp(rfc3339: text) else { return text }
    return "\(time.seconds).\(time.nanoseconds)"
  }
}

@Suite struct PincerVectorTests {
  @Test func thereAreVectors() { #expect(PincerVector.all.count == 14) }

  @Test(arguments: PincerVector.all)
  func theStateIsTheOneOfTheContract(_ vector: PincerVector) throws {
    let expected = try #require(vector.expected)
    for times in [1, 2] {
      #expect(NormalForm.differences(try vector.folded(times: times), expected) == [])
    }
  }

  @Test func theComparisonSeesDifferences() throws {
    let zero = try JSONValue.parse(text: #"{"exit_code":0,"at":"2026-01-01T00:00:00Z","x":null}"#)
    let null = try JSONValue.parse(text: #"{"exit_code":null,"at":"2026-01-01T00:00:00.000Z"}"#)
    #expect(NormalForm.differences(null, zero).count == 1)
    #expect(NormalForm.differences(zero, zero) == [])
  }
}
