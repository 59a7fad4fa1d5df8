import Core
import Testing

@testable import Shell
@testable import tmux_attach

@Suite struct SessionChangeTests {
  private func session(
    _ name: String, id: String = "$0", created: Int64 = 1, activity: Int64 = 1, windows: Int = 1
  ) -> TmuxSession {
    TmuxSession(
      id: id, name: name, windows: windows, attached: 0, created: Timestamp(seconds: created),
      activity: Timestamp(seconds: activity), directory: [0x2f], command: [0x63])
  }

  private func changes(_ old: [TmuxSession], _ new: [TmuxSession]) -> [String] {
    SessionChange.between(old, new, time: Timestamp(seconds: 5)).map { $0.kind + " " + $0.name }
  }

  @Test func whatDiffers() {
    #expect(changes([], [session("a"), session("b", id: "$1")]) == ["added a", "added b"])
    #expect(changes([session("a")], []) == ["dropped a"])
    #expect(changes([session("a")], [session("a", activity: 9)]) == [])
    #expect(changes([session("a")], [session("a", windows: 2)]) == ["changed a"])
    #expect(changes([session("a")], [session("b")]) == ["dropped a", "added b"])
    #expect(
      changes([session("a")], [session("a", id: "$4", created: 3)]) == ["dropped a", "added a"])
  }

  @Test func record() {
    let change = SessionChange(
      kind: "kept", name: "a\u{1b}\"", session: nil, time: Timestamp(seconds: 0))
    #expect(
      String(decoding: change.record, as: UTF8.self)
        == #"{"type":"session_change","change":"kept","name":"a\u001b\"","time":"1970-01-01T00:00:00.000Z"}"#
    )
  }
}
