import Core
import Testing
import Turns

@testable import task

@Suite struct QuickTaskTests {
  private func read(_ text: String) throws -> TaskDraft {
    let now = Timestamp(seconds: 1_795_430_000)  // 2026-11-23
    return try QuickTask.read(text, now: now, zone: LocalZone { _ in 0 })
  }

  @Test func marks() throws {
    var draft = TaskDraft(title: "deploy the pipeline")
    draft.priority = 1
    draft.labels = ["ops", "böse"]
    draft.project = "site"
    draft.due = DueTime("2026-11-24T09:00:00Z")
    draft.dueText = "tomorrow 9:00"
    #expect(try read("deploy  !1 the #ops tomorrow 9:00\tpipeline +site #böse #ops") == draft)
  }

  @Test func signsBehind() throws {
    let draft = try read("paint #ops, #home. +house, !1, @alice.test; #a,#b")
    #expect(draft.title == "paint" && draft.labels == ["ops", "home", "a", "b"])
    #expect(draft.project == "house" && draft.priority == 1 && draft.assignee == "alice.test")
  }

  @Test(arguments: [
    "say !5 and !12 and !", "fix #12 and # and #-", "call +49 30 1234 +", "ask @bob or @", "a\\b",
    "\"tomorrow !1\" \"x", "5\" pipe", "why! really?",
  ])
  func titles(text: String) throws {
    #expect(try read(text) == TaskDraft(title: text))
  }

  @Test func escapes() throws {
    #expect(try read(##"\#1 \#a \tomorrow \!1 \\x \ y"##).title == ##"#1 #a tomorrow !1 \x \ y"##)
    #expect(try read(#"read "next fri" aloud fri"#).title == #"read "next fri" aloud"#)
  }

  @Test(arguments: [
    ("alice.test", true), ("a.b-c.example", true), ("did:plc:abc123", true),
    ("did:web:a.test%3A80", true), ("bob", false), ("a..b", false), ("-a.b", false),
    ("a.1b", false),
    ("did:plc:", false), ("did::x", false), ("did:PLC:x", false), ("a.b/c", false),
    ("ä.test", false),
  ])
  func persons(word: String, isPerson: Bool) throws {
    #expect(QuickTask.isPerson(word) == isPerson)
    #expect(try read("x @\(word)").assignee == (isPerson ? word : nil))
  }

  @Test(arguments: [
    ("", "no title"), ("tomorrow !1 #a", "no title"), ("x 31 feb", "no such date: 31 feb"),
    ("x fri y sat", #"two dates: fri, and sat; \ before a word keeps it in the title"#),
    ("x !1 y !2", #"two priorities: !1, and !2; \ before a word keeps it in the title"#),
    ("x +a y +b", #"two projects: +a, and +b; \ before a word keeps it in the title"#),
    ("@a.b @c.d", #"two persons: @a.b, and @c.d; \ before a word keeps it in the title"#),
    (String(repeating: "a", count: 501), "a title of more than 500 characters"),
  ])
  func refuses(text: String, reason: String) {
    #expect(throws: Failure(reason)) { try read(text) }
  }
}
