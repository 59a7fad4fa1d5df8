import Core
import Testing

@testable import Agent

struct ThreeWayMergeTests {
  private static let early = #""updatedAt":"2026-01-01T00:00:00.000Z""#
  private static let late = #""updatedAt":"2026-02-02T00:00:00.000Z""#

  private static func merge(_ was: String?, _ ours: String, _ theirs: String) -> ThreeWayMerge {
    ThreeWayMerge(
      was: was.map { Array($0.utf8) }, ours: Array(ours.utf8), theirs: Array(theirs.utf8))
  }

  private static func text(_ merge: ThreeWayMerge) -> String {
    String(decoding: merge.record, as: UTF8.self)
  }

  private static func losers(_ merge: ThreeWayMerge) -> [String] {
    merge.conflicts.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The members of a record without their order.
  private static func isSame(_ one: String, _ other: String) -> Bool {
    ThreeWayMerge.isSame(Array(one.utf8), Array(other.utf8))
  }

  /// What does not depend on whose change it is.
  @Test(
    arguments: [
      // One side.
      (#"{"a":1,"b":1}"#, #"{"a":2,"b":1}"#, #"{"a":1,"b":1}"#, #"{"a":2,"b":1}"#),
      (#"{"a":1}"#, #"{"a":2,"b":1}"#, #"{"a":1,"c":3}"#, #"{"a":2,"b":1,"c":3}"#),
      (#"{"a":1,"b":2}"#, #"{"b":2}"#, #"{"a":1,"b":3}"#, #"{"b":3}"#),
      // Both, equal.
      (#"{"a":1}"#, #"{"a":2}"#, #"{"a":2}"#, #"{"a":2}"#),
      (
        #"{"a":{"x":1,"y":2}}"#, #"{"a":{"y":3,"x":1}}"#, #"{"a":{"x":1,"y":3}}"#,
        #"{"a":{"x":1,"y":3}}"#
      ),
      (#"{"a":"é"}"#, #"{"a":"\u0041"}"#, #"{"a":"A"}"#, #"{"a":"A"}"#),
      (#"{"a":1}"#, "{}", "{}", "{}"),
      // Status.
      (#"{"status":"x"}"#, #"{"status":"done"}"#, #"{"status":"open"}"#, #"{"status":"done"}"#),
      (
        #"{"status":"x"}"#, #"{"status":"done"}"#, #"{"status":"cancelled"}"#, #"{"status":"done"}"#
      ),
      (
        #"{"status":"x"}"#, #"{"status":"open"}"#, #"{"status":"cancelled"}"#, #"{"status":"open"}"#
      ),
      // Sets.
      (
        #"{"labels":["a","b"]}"#, #"{"labels":["b","c"]}"#, #"{"labels":["a","b","d"]}"#,
        #"{"labels":["b","c","d"]}"#
      ),
      (
        #"{"participants":["a"]}"#, #"{"participants":[]}"#, #"{"participants":["a","b"]}"#,
        #"{"participants":["b"]}"#
      ),
      (#"{}"#, #"{"sharedWith":["a"]}"#, #"{"sharedWith":["b"]}"#, #"{"sharedWith":["a","b"]}"#),
      (#"{"labels":["a","b"]}"#, #"{}"#, #"{"labels":["a","b","c"]}"#, #"{"labels":["c"]}"#),
      // Counters.
      (#"{"steps":1}"#, #"{"steps":100}"#, #"{"steps":20}"#, #"{"steps":100}"#),
      (#"{"waterMl":900}"#, #"{"waterMl":-3}"#, #"{"waterMl":5}"#, #"{"waterMl":5}"#),
    ])
  func isTheSameFromBothSides(_ was: String, _ one: String, _ other: String, _ want: String) {
    for (ours, theirs) in [(one, other), (other, one)] {
      let merge = Self.merge(was, ours, theirs)
      let got = Self.text(merge)
      // Sets have no order.
      if want.contains("[") {
        #expect(got.utf8.sorted() == want.utf8.sorted(), "\(ours) \(theirs)")
      } else {
        #expect(Self.isSame(got, want), "\(ours) and \(theirs) give \(got)")
      }
      #expect(merge.conflicts.isEmpty)
    }
  }

  /// What the newer side decides, with what lost.
  @Test(arguments: ["title", "text", "notes", "due", "priority", "project", "assignee", "odd"])
  func newerCounts(_ name: String) {
    let was = #"{"\#(name)":"w"}"#
    let (old, new) = (#"{"\#(name)":"o",\#(Self.early)}"#, #"{"\#(name)":"n",\#(Self.late)}"#)
    for (ours, theirs, loser) in [(old, new, "ours"), (new, old, "theirs")] {
      let merge = Self.merge(was, ours, theirs)
      #expect(Self.isSame(Self.text(merge), new))
      #expect(Self.losers(merge) == [#"{"member":"\#(name)","of":"\#(loser)","value":"o"}"#])
    }
    let tie = Self.merge(was, #"{"\#(name)":"o"}"#, #"{"\#(name)":"t"}"#)
    #expect(Self.text(tie) == #"{"\#(name)":"t"}"#)
    #expect(Self.losers(tie) == [#"{"member":"\#(name)","of":"ours","value":"o"}"#])
    let removed = Self.merge(was, "{\(Self.late)}", #"{"\#(name)":"t",\#(Self.early)}"#)
    #expect(Self.text(removed) == "{\(Self.late)}")
  }

  @Test func cancelledCountsWhereItIsNewer() {
    let was = #"{"status":"x"}"#
    for other in ["open", "done"] {
      let cancelled = #"{"status":"cancelled",\#(Self.late)}"#
      let it = #"{"status":"\#(other)",\#(Self.early)}"#
      #expect(Self.isSame(Self.text(Self.merge(was, cancelled, it)), cancelled))
      #expect(Self.isSame(Self.text(Self.merge(was, it, cancelled)), cancelled))
      let late = #"{"status":"\#(other)",\#(Self.late)}"#
      let early = #"{"status":"cancelled",\#(Self.early)}"#
      #expect(Self.isSame(Self.text(Self.merge(was, late, early)), late))
      #expect(Self.isSame(Self.text(Self.merge(was, early, late)), late))
    }
  }

  @Test func withoutABaseNothingIsTakenAway() {
    let merge = Self.merge(
      nil, #"{"a":1,"t":"o","labels":["x"],"steps":3,"e":5}"#,
      #"{"b":2,"t":"t","labels":["y"],"steps":2,"e":5}"#)
    #expect(
      Self.isSame(
        Self.text(merge), #"{"b":2,"t":"t","labels":["y","x"],"steps":3,"e":5,"a":1}"#))
    #expect(Self.losers(merge) == [#"{"member":"t","of":"ours","value":"o"}"#])
  }

  @Test func bytesAndOrderStay() {
    let merge = Self.merge(
      #"{"a":1,"b":[1.0],"c":"x"}"#, #"{"c":"\u0079","b":[1.0],"a":1,"new\u0031":{"k" : 1.50}}"#,
      #"{"b":[ 1.00 ],"a":1,"c":"x","big":123456789012345678901234567890}"#)
    #expect(
      Self.text(merge)
        == #"{"b":[ 1.00 ],"a":1,"c":"\u0079","big":123456789012345678901234567890,"#
        + #""new\u0031":{"k" : 1.50}}"#)
  }

  /// What was merged once is not changed by the same once more, as after a lost answer.
  @Test func isDoneOnce() {
    let was = #"{"title":"w","labels":["a","b"],"steps":1,"status":"open"}"#
    let ours = #"{"title":"o","labels":["b","c"],"steps":5,"status":"done",\#(Self.early)}"#
    let theirs = #"{"title":"t","labels":["a","b","d"],"steps":9,"status":"open",\#(Self.late)}"#
    for (ours, theirs) in [(ours, theirs), (theirs, ours)] {
      let first = Self.text(Self.merge(was, ours, theirs))
      #expect(Self.text(Self.merge(was, ours, first)) == first)
      #expect(Self.text(Self.merge(ours, ours, first)) == first)
    }
  }

  @Test(
    arguments: [
      (#"{"title":"b"}"#, true), (#"{"title":"a","text":"x"}"#, true),
      (#"{"title":"a","due":"2026-01-01"}"#, true), (#"{"title":"a","notes":"x"}"#, false),
      (#"{"title":"a","status":"done"}"#, false), ("{}", true),
    ])
  func aChangeOfWordsOutlivesADeletion(_ ours: String, _ want: Bool) {
    #expect(
      ThreeWayMerge.outlivesDeletion(was: Array(#"{"title":"a"}"#.utf8), ours: Array(ours.utf8))
        == want)
  }
}
