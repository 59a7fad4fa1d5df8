import CLibc
import Core
import Shell
import Testing

@Suite struct ChildProcessTests {
  /// All that comes from a descriptor until its end, waiting for it.
  private func all(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      var set = PollSet()
      set.add(descriptor)
      set.wait(seconds: 10)
      let count = read(descriptor, &buffer, buffer.count)
      if count <= 0 { break }
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func pipesCarryAllThreeStreams() throws {
    let child = try ChildProcess(
      ["sh", "-c", "cat; echo $GIVEN; echo bad >&2; exit 7"], environment: ["GIVEN": "there"],
      input: .pipe, output: .pipe, error: .pipe)
    #expect(write(child.input, "hello\n", 6) == 6)
    child.closeInput()
    #expect(all(child.output) == "hello\nthere\n")
    #expect(all(child.error) == "bad\n")
    _ = child.waitForEnd()
    #expect(child.exitStatus == 7)
    #expect(child.endSignal == nil)
  }

  @Test func aTerminalIsTheControllingOneAndHasASize() throws {
    let child = try ChildProcess(
      ["sh", "-c", "stty size </dev/tty; ps -o sid= -p $$; echo $$"],
      terminal: WindowSize(columns: 91, rows: 17))
    let lines = all(child.terminal).split(separator: "\r\n").map { $0.filter { $0 != " " } }
    #expect(lines == ["1791", String(child.process), String(child.process)])
    #expect(child.waitForEnd() == 0)
  }

  @Test func aSizeReachesTheProgram() throws {
    let child = try ChildProcess(
      ["sh", "-c", "trap 'stty size; exit' WINCH; echo up; while :; do sleep 0.05; done"],
      terminal: WindowSize(columns: 80, rows: 24))
    var buffer = [UInt8](repeating: 0, count: 64)
    var set = PollSet()
    set.add(child.terminal)
    set.wait(seconds: 10)
    _ = read(child.terminal, &buffer, buffer.count)
    child.resize(WindowSize(columns: 33, rows: 44))
    #expect(all(child.terminal) == "44 33\r\n")
  }

  @Test func signalsAreAtTheirDefaultsInIt() throws {
    clibc_signal_ignore(SIGPIPE)
    let child = try ChildProcess(["sh", "-c", "kill -PIPE $$; echo still there"])
    #expect(all(child.output) == "")
    _ = child.waitForEnd()
    #expect(child.endSignal == SIGPIPE)
    #expect(child.exitStatus == nil)
  }

  @Test func nothingOfOursIsOpenInIt() throws {
    let first = try ChildProcess(["cat"], input: .pipe)
    let second = try ChildProcess(["cat"], input: .pipe)
    // It would not end if the other one held its input open.
    first.closeInput()
    #expect(first.waitForEnd() == 0)
    #expect(!second.reap())
  }

  @Test func aMissingProgramIsAFailure() {
    #expect(throws: Failure.self) {
      _ = try ChildProcess(["/nonexistent/program"])
    }
  }

  @Test func itIsKilledWithItsLastReference() throws {
    var child: ChildProcess? = try ChildProcess(["sleep", "60"])
    let process = child!.process
    child = nil
    #expect(kill(process, 0) == -1)
  }
}
