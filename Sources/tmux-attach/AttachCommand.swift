import CLibc
import Core
import Shell

/// Attaches to a session, and makes it if there is none.
func attach(_ options: AttachOptions, _ diagnostics: Diagnostics) throws -> Int32 {
  var request = try options.request(diagnostics)
  let start = try options.start(
    options.session ?? request.destination.section?.session, in: request)
  guard isatty(0) == 1, isatty(1) == 1 else {
    throw UsageError("standard input and output must be a terminal")
  }
  if request.destination.isHere {
    return try attachHere(start, HostVisit(options, diagnostics, request))
  }
  let terminal = SeatTerminal()
  let talk = AttachTalk(diagnostics)
  request.isForTerminal = true
  request.note = { talk.note($0) }
  request.tell = { talk.say($0) }
  request.ask = { talk.ask($0, with: askSecret) }
  let term = Process.environment("TERM").flatMap {
    // One that cannot draw is taken for the usual one.
    $0 == "dumb" || ShellWord.holdsControls($0) ? nil : $0
  }
  let line = AttachLine(
    start: start, label: request.label, client: String(HostCalls.nonce().prefix(16)),
    nonce: HostCalls.nonce(), term: term ?? "xterm-256color",
    hasTrueColour: ["truecolor", "24bit"].contains(Process.environment("COLORTERM")))
  let outcome = AttachLoop(options, request, line, terminal, talk).run()
  // The terminal is the user's again before anything is said.
  terminal.leave()
  if canSay {
    talk.release()
    for text in outcome.messages { diagnostics.say(text) }
  }
  if let signal = outcome.signal { Process.die(by: signal) }
  return outcome.status
}

/// Whether what is said is taken: a terminal that stands still must not keep us.
private var canSay: Bool {
  guard isatty(2) == 1 else { return true }
  var set = PollSet()
  set.add(2, reading: false, writing: true)
  set.wait(seconds: 0.5)
  return set.isWritable(2)
}

/// Sits down at a session of this machine: tmux does it itself, at the user's terminal.
private func attachHere(_ start: SessionStart, _ visit: HostVisit) throws -> Int32 {
  // tmux would say so, too, but only when the session has been made.
  guard Process.environment("TMUX") == nil else {
    throw UsageError("this terminal is tmux's already (unset TMUX to nest)")
  }
  do throws(HostFailure) {
    if try !visit.tmux.sessions().contains(where: { $0.name == start.name }) {
      _ = try visit.tmux.new(start)
    }
  } catch .duplicate {
    // Another one was quicker.
  } catch {
    return visit.fail(error)
  }
  visit.calls.close()
  try? SessionMemory.update(visit.memoryPath) { $0.used(start.name) }
  let target = ShellWord.tmuxArgument("=" + start.name)
  // Its end takes the terminal to no other session.
  let words =
    ["tmux", "-u", "-L", visit.request.label, "attach-session", "-t", target, ";"]
    + ["set-option", "-qt", "=\(start.name):", "detach-on-destroy", "on"]
  var arguments = words.map { strdup($0) } + [nil]
  clibc_keep_others_private()
  // It comes back only when that fails.
  _ = execvp(words[0], &arguments)
  visit.diagnostics.error("tmux", systemReason(systemError))
  return ExitStatus.failure.rawValue
}

/// What is said to a person beside the session: notes, new host keys, questions. While
/// a session is on the screen nothing may be said there: it is kept for the end.
///
/// A link calls it, from the thread of the loop.
final class AttachTalk: @unchecked Sendable {
  /// Whether the screen is the session's.
  var isHeld = false
  var clear: () -> Void = {}
  private let diagnostics: Diagnostics
  private let isScreen = isatty(2) == 1
  private var kept: [String] = []
  /// Answers of this run, so that a link that comes back need not ask again.
  private var answers: [String: [UInt8]] = [:]
  private var used: Set<String> = []

  init(_ diagnostics: Diagnostics) { self.diagnostics = diagnostics }

  /// Says a line now, or when the screen is the user's again.
  func say(_ text: String) {
    guard isHeld && isScreen else {
      clear()
      diagnostics.say(text)
      return
    }
    // The last ones tell why it ended.
    if kept.count == 50 { kept.removeFirst() }
    kept.append(text)
  }

  func note(_ text: String) {
    if diagnostics.verbose { say(text) }
  }

  func release() {
    isHeld = false
    for line in kept { diagnostics.say(line) }
    kept = []
  }

  /// A try begins: each answer that was good before is good once more.
  func beginTry(keepingAnswers isGood: Bool) {
    used = []
    if !isGood { answers = [:] }
  }

  func ask(_ prompt: String, with asking: (String) -> [UInt8]?) -> [UInt8]? {
    if let answer = answers[prompt], used.insert(prompt).inserted { return answer }
    clear()
    let answer = asking(prompt)
    answers[prompt] = answer
    used.insert(prompt)
    return answer
  }
}
