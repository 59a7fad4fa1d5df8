import CLibc
import Core
import Testing

@testable import Shell

/// Calls of this machine: what is between a call and a network is tested with one.
@Suite struct ControlCallTests {
  private func call(
    _ script: String, _ arguments: [String] = [], input: ControlRequest.Input = .none,
    maxTime: Double = 20, progress: ((Int) -> Void)? = nil
  ) throws(HostFailure) -> ControlAnswer {
    clibc_signal_ignore(SIGPIPE)
    return try HostCalls(maxTime: maxTime) { _ in LocalLink() }.call(
      ControlRequest(script, arguments, input: input), progress: progress)
  }

  @Test func argumentsAreWords() throws {
    let words = ["", "a b", "it's", "\\", "x\\\\\n\ty", "$HOME `x` !! %s", "ü", "\u{1b}[m", "a'"]
    let answer = try call("for word; do printf '<%s>' \"$word\"; done; exit 3", words)
    #expect(answer.status == 3)
    #expect(answer.text == words.map { "<\($0)>" }.joined())
  }

  @Test func manyCallsOverOneLink() throws {
    let calls = HostCalls(maxTime: 20) { _ in LocalLink() }
    for number in 0..<5 {
      #expect(try calls.call(ControlRequest("echo \(number)")).text == "\(number)")
    }
  }

  @Test func bytesGoInAndOut() throws {
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    var told = 0
    let answer = try call("cat", input: .bytes(bytes), progress: { told = $0 })
    #expect(answer.output == bytes && told == bytes.count)
  }

  @Test func fileGoesInFromItsBeginning() throws {
    let file = tmpfile()!
    defer { fclose(file) }
    let bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
    #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count && fflush(file) == 0)
    let answer = try call(
      "cat", input: .file(descriptor: fileno(file), size: bytes.count))
    #expect(answer.output == bytes)
    #expect(throws: HostFailure.unfit(why: "the file became shorter")) {
      try call("cat", input: .file(descriptor: fileno(file), size: bytes.count + 1))
    }
  }

  @Test func endBeforeTheEnd() {
    for script in ["kill -9 $$", "printf half; kill -9 $$"] {
      #expect {
        _ = try call(script)
      } throws: { error in
        if case .cutShort = error as? HostFailure { true } else { false }
      }
    }
  }

  @Test func noAnswerInTime() {
    #expect {
      _ = try call("printf half; exec sleep 20", maxTime: 0.5)
    } throws: { error in
      if case .late(seconds: 0.5, _) = error as? HostFailure { true } else { false }
    }
  }
}
