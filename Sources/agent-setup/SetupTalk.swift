import CLibc
import Core

struct SetupTalk {
  private let diagnostics: Diagnostics
  /// What must not stay behind.
  private let scratch: ScratchFolder
  var folder: String { scratch.path }

  init(_ diagnostics: Diagnostics) {
    self.diagnostics = diagnostics
    scratch = ScratchFolder(diagnostics)
  }

  func clean() { scratch.remove() }

  func say(_ words: String) { put(Visible.masked(words) + "\n") }

  /// What to type next.
  func say(next commands: [String]) {
    say("next:")
    for command in commands.prefix(3) { say("  \(command)") }
  }

  func fail(_ words: String, _ status: ExitStatus = .failure) -> Never {
    clean()
    diagnostics.fail(words, status)
  }

  func handleSignal() {
    guard let signal = EndSignals.next() else { return }
    if isatty(2) == 1 { put("\n") }
    clean()
    Process.die(by: signal)
  }

  private func put(_ text: String) { _ = text.withCString { write(2, $0, strlen($0)) } }

  func ask(_ question: String, _ usual: String = "") -> String {
    put(Visible.masked(question) + (usual.isEmpty ? ": " : " [\(usual)]: "))
    let line = readLine().trimming { $0 == 32 || $0 == 9 || $0 == 13 }
    return line.isEmpty ? usual : String(decoding: line, as: UTF8.self)
  }

  func agrees(_ question: String) -> Bool {
    ["y", "yes"].contains(ask("\(question) (y/n)", "n").lowercased())
  }

  func choose(_ question: String, _ words: [String], _ usual: String) -> String {
    while true {
      let answer = ask("\(question): \(words.joined(separator: ", "))", usual)
      if words.contains(answer) { return answer }
      say("Please choose one of these.")
    }
  }

  func pause(seconds: Int32) {
    var file = pollfd(fd: EndSignals.descriptor, events: Int16(POLLIN), revents: 0)
    _ = poll(&file, 1, seconds * 1000)
    handleSignal()
  }

  /// Gives a program something to read; it may ask at the terminal. Returns whether it took it.
  func hand(_ bytes: [UInt8], to words: [String]) -> Bool {
    guard let child = try? ChildProcess(words, input: .pipe, output: .nothing) else { return false }
    _ = write(child.input, bytes, bytes.count)
    child.closeInput()
    let status = child.waitForEnd()
    handleSignal()
    return status == 0
  }

  func secret(_ question: String) -> [UInt8] {
    guard isatty(0) == 1 else {
      put(question + ": ")
      return readLine()
    }
    // A stopped process could not make the terminal speak again.
    clibc_signal_ignore(SIGTSTP)
    // The default.
    defer { signal(SIGTSTP, nil) }
    var answer = [CChar](repeating: 0, count: 4096)
    let count = clibc_ask_secret(question + ": ", &answer, answer.count)
    handleSignal()
    if count < 0 { fail("the input ended") }
    return answer[..<count].map { UInt8(bitPattern: $0) }
  }

  private func readLine() -> [UInt8] {
    if let line = EndSignals.line(from: 0, handleSignal: handleSignal) { return line }
    put("\n")
    fail("the input ended")
  }
}
