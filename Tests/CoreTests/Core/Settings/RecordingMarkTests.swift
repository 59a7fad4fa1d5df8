import TestSupport
import Testing

@testable import Core

@Suite struct RecordingMarkTests {
  @Test(arguments: [("17\n", 17), ("17", 17), ("017 \r\n", 17), ("2147483647\n", 2_147_483_647)])
  func itNamesAProcess(text: String, process: Int32) {
    #expect(RecordingMark.process(of: Array(text.utf8)) == process)
  }

  @Test(arguments: [
    "", "\n", "0\n", "-1\n", "+1\n", "x", "1 2\n", "1\n2\n", "2147483648\n", " 1\n",
  ])
  func orNothing(text: String) {
    #expect(RecordingMark.process(of: Array(text.utf8)) == nil)
  }

  @Test func itStandsWithTheState() {
    let folders = Folders { $0 == "XDG_STATE_HOME" ? "/state" : nil }
    #expect(RecordingMark(folders).path == "/state/agentutils/recording")
  }
}
