import TestSupport
import Testing

@testable import Core
@testable import Records

@Suite struct RecordScanTests {
  /// The shape, then what was found, in words.
  func read(_ line: String) -> String {
    withBytes(line) { bytes in
      var record = RecordScan()
      // A record before must leave no trace.
      withBytes(#"{"event":"voice_event","data":{"id":1,"kind":"old","actions":[0]}}"#) {
        _ = try? record.read($0)
      }
      do throws(ScanFault) {
        switch try record.read(bytes) {
        case .action, .unmarked:
          return "\(record.source) \(record.fields.kind.string ?? "-") "
            + String(decoding: record.object.bytes, as: UTF8.self)
        case .list: return "list " + String(decoding: record.rows.bytes, as: UTF8.self)
        case .own, .event, .stats, .voiceState: return "other"
        }
      } catch {
        return error.reason
      }
    }
  }

  @Test(arguments: [
    (#" {"kind":"k"} "#, #"bare k {"kind":"k"}"#),
    (#"{"id":1,"kind":"k"}"#, #"row k {"id":1,"kind":"k"}"#),
    (#"{"id":null,"kind":"k"}"#, #"bare k {"id":null,"kind":"k"}"#), ("{}", "bare - {}"),
    (#"{"kind":5}"#, #"bare 5 {"kind":5}"#),
    (#"{"event":"action_event","id":"","data":{"kind":"k"}}"#, #"actionEvent k {"kind":"k"}"#),
    (#"{"event":"voice_event","id":"","data":{"kind":"k"}}"#, #"voiceEvent k {"kind":"k"}"#),
    (
      #"{"data": {"kind":"k","id":7} ,"id":"7","event":"voice_event"}"#,
      #"row k {"kind":"k","id":7}"#
    ),
    (#"{"event":"voice_evenx","id":"","data":{"kind":"k"}}"#, #"actionEvent k {"kind":"k"}"#),
    (#"{"data":{"id":null,"kind":"k"}}"#, #"actionEvent k {"id":null,"kind":"k"}"#),
    (#"{"d\u0061ta":{"kind":"k"}}"#, #"actionEvent k {"kind":"k"}"#),
    (#"{"data":{"kind":"a"},"data":{"kind":"b"}}"#, #"actionEvent b {"kind":"b"}"#),
    (#"{"event":"action_event","id":"","data":{"x":1}}"#, "other"),
    (#"{"event":"e","data":{"kind":"a"},"data":{"x":1}}"#, "other"),
    (#"{"event":"e","data":{"actions":[1]},"data":{"x":1}}"#, "other"),
    (#"{"data":{"kind":"a"},"data":5,"event":"e"}"#, "other"),
    (#"{"kind":"k","data":{"kind":"inner"}}"#, #"bare k {"kind":"k","data":{"kind":"inner"}}"#),
    (#"{"event":"activity_snapshot","id":"","data":{"actions":[1],"stats":{}}}"#, "list [1]"),
    (#"{"actions":[],"stats":{}}"#, "list []"), (#"{"actions":[2]}"#, "list [2]"),
    (#"{"actions":{},"event":"x"}"#, #"bare - {"actions":{},"event":"x"}"#),
    (#"{"event":"stats_update","id":"","data":{"stats":{},"runtime":{}}}"#, "other"),
    (#"{"stats":{},"runtime":{}}"#, "other"), (#"{"activeCount":0,"sessions":[]}"#, "other"),
    (#"{"type":"lost","reason":"x"}"#, "other"), (#"{"event":"x","data":"text"}"#, "other"),
    // What a command of the suite made is no action, though it names a kind.
    (#"{"type":"count","kind":"k","count":2}"#, "other"),
    (#" { "t\u0079pe" : "later", "kind":"k"}"#, "other"),
    (#"{"type":"count","createdAt":null,"kind":"k"}"#, "other"),
    (#"{"kind":"k","type":"count"}"#, #"bare k {"kind":"k","type":"count"}"#),
    (#"{"type":5,"kind":"k"}"#, #"bare k {"type":5,"kind":"k"}"#),
    (
      #"{"type":"t","kind":"k","createdAt":"x"}"#,
      #"bare k {"type":"t","kind":"k","createdAt":"x"}"#
    ),
    (
      #"{"type":"t","kind":"k","created_at":"x"}"#,
      #"bare k {"type":"t","kind":"k","created_at":"x"}"#
    ),
    (#"{"type":"t","event":"e","data":{"kind":"k"}}"#, "other"),
    (#"{"type":"t","actions":[{"kind":"k"}]}"#, "other"),
    (#"{"event":"e","data":{"type":"t","kind":"k"}}"#, #"actionEvent k {"type":"t","kind":"k"}"#),
    (#"{"data":{"a":1]}"#, "unbalanced brackets"), (#"{"data":{"a":1}"#, "unbalanced brackets"),
    (#"{"data":{"kind":"k"}} x"#, "text after the value"), ("[{}]", "not a JSON object"),
  ])
  func tellsWhatALineIs(line: String, what: String) {
    #expect(read(line) == what)
  }

  /// The shape, and the object that has it.
  private func shape(_ line: String) -> String {
    withBytes(line) { bytes in
      var record = RecordScan()
      guard let shape = try? record.read(bytes) else { return "fault" }
      return "\(shape) \(String(decoding: record.object.bytes, as: UTF8.self))"
    }
  }

  @Test(arguments: [
    (#"{"event":"stats_update","id":"","data":{"stats":{}}}"#, #"stats {"stats":{}}"#),
    (#"{"stats":{},"runtime":{}}"#, #"stats {"stats":{},"runtime":{}}"#),
    (#"{"stats":{},"type":"t"}"#, #"own {"stats":{},"type":"t"}"#),
    (#"{"stats":1}"#, #"unmarked {"stats":1}"#), (#"{"stats":{},"kind":""}"#, "action"),
    (#"{"event":"e","data":{"sessions":[]}}"#, #"voiceState {"sessions":[]}"#),
    (#"{"activeCount":0,"sessions":null}"#, "voiceState"), (#"{"activeCount":0}"#, "voiceState"),
    (#"{"sessions":{}}"#, "unmarked"), (#"{"data":{"stats":{}}}"#, "unmarked"),
    (#"{"data":{"sessions":[]}}"#, "unmarked"), (#"{"event":"e"}"#, "unmarked"),
    (#"{"event":"e","data":{"type":"lost"}}"#, "event"), (#"{"event":"e","data":null}"#, "event"),
    (#"{"event":"e","data":{},"stats":{}}"#, "event"),
    (#"{"event":"e","data":1,"type":"t"}"#, "own"),
    (#"{"event":"e","data":{},"actions":[]}"#, #"list {"event":"e","data":{},"actions":[]}"#),
    (#"{"event":"e","data":{"actions":[],"stats":{}}}"#, #"list {"actions":[],"stats":{}}"#),
    (#"{"event":"e","data":{"kind":"k"}}"#, #"action {"kind":"k"}"#),
    (#"{"event":"e","data":{"kind":5}}"#, "event"), (#"{"kind":5}"#, "unmarked"),
    (#"{"data":{"kind":"k","actions":[]}}"#, #"action {"kind":"k","actions":[]}"#),
    (#"{"event":"e","data":{"actions":{}}}"#, "event"), (#"{"event":"e","data":[1]}"#, "event"),
    (#"{"a":1,"type":"t"}"#, "own"), (#"{"a":1,"type":"t","actions":[]}"#, "list"),
    (#"{"type":1}"#, "unmarked"), (#"{"subject":"s","fact":"f"}"#, "unmarked"),
  ])
  func tellsTheOtherShapesApart(line: String, what: String) {
    let found = shape(line)
    #expect(found == what || found == "\(what) \(line)")
  }

  @Test func whatStandsBesideIsThatOfTheObject() {
    withBytes(
      #"{"profile":"p","event":"e","stats":1,"runtime":2,"data":{"kind":"k","level":"l","#
        + #""stats":3,"runtime":4,"profile":"q"}}"#
    ) { bytes in
      var record = RecordScan()
      #expect((try? record.read(bytes)) == .action)
      #expect(record.isWrapped && record.profile.string == "p")
      #expect(record.stats.string == "3" && record.runtime.string == "4")
      #expect(record.fields.kind.string == "k" && record.fields.level.string == "l")
    }
    withBytes(#"{"profile":5,"stats":{},"runtime":4,"level":"l"}"#) { bytes in
      var record = RecordScan()
      #expect((try? record.read(bytes)) == .stats)
      #expect(!record.isWrapped && record.profile.isAbsent)
      #expect(record.stats.isObject && record.runtime.string == "4")
      #expect(record.fields.kind.isAbsent && record.fields.level.string == "l")
    }
    withBytes(#"{"event":"e","data":{"actions":[],"stats":{"a":1}}}"#) { bytes in
      var record = RecordScan()
      #expect((try? record.read(bytes)) == .list)
      #expect(record.isWrapped && record.stats.isObject)
    }
    withBytes("profile") { #expect(RecordScan.isProfile(ScanValue($0))) }
    withBytes("profiles") { #expect(!RecordScan.isProfile(ScanValue($0))) }
  }

  /// The kinds of the rows of the list that began last.
  private final class Kinds: ActionRowReader {
    var found: [String] = []
    func begin() { found = [] }
    func add(_ fields: ActionFields, _ action: ScanValue) {
      found.append(fields.kind.string ?? "-")
    }
  }

  @Test(arguments: [
    (#"{"actions":[{"kind":"a"}, {"kind":"b"},{}]}"#, "a b -"), (#"{"actions":[]}"#, ""),
    (#"{"event":"e","data":{"actions":[{"kind":"a"}]}}"#, "a"),
    (#"{"actions":[5],"actions":[{"kind":"b"}]}"#, "b"),
    (#"{"actions":[{"kind":"a"}],"actions":[5]}"#, nil), (#"{"actions":[{"kind":"a"},5]}"#, nil),
    (#"{"actions":[{"kind":"a"}{}]}"#, nil),
    // The list in the data counts, but the other one came last.
    (#"{"data":{"actions":[{"kind":"a"}]},"actions":[5]}"#, nil),
    (#"{"data":{"actions":[{"kind":"a"}]},"actions":[{"kind":"b"}]}"#, nil),
    (#"{"actions":[{"kind":"b"}],"data":{"actions":[{"kind":"a"}]}}"#, "a"),
  ])
  func rowsAreReadOnTheWay(line: String, kinds: String?) {
    withBytes(line) { bytes in
      var record = RecordScan()
      let reader = Kinds()
      // What was read of the same bytes before does not count.
      _ = try? record.read(bytes, rows: reader)
      #expect((try? record.read(bytes)) == .list && !record.hasReadRows)
      #expect((try? record.read(bytes, rows: reader)) == .list)
      #expect(record.hasReadRows == (kinds != nil))
      if let kinds { #expect(reader.found.joined(separator: " ") == kinds) }
    }
  }
}
