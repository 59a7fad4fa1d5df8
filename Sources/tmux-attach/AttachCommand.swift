import CLibc
import Core
import Shell

enum AttachCommand {
  static func run(_ options: AttachOptions, _ diagnostics: Diagnostics) throws -> Int32 {
    var request = try options.request(diagnostics)
    let section = request.destination.section
    let start = try SessionStart(
      name: options.session ?? section?.session,
      directory: options.directory ?? section?.directory,
      harness: options.harness ?? section?.harness, usesWorktree: options.usesWorktree)
    if request.destination.isHere {
      return try HereAttach.run(options, start, request, diagnostics)
    }
    guard let terminal = SeatTerminal() else {
      throw UsageError("standard input and output must be a terminal")
    }
    let talk = AttachTalk(diagnostics)
    request.isForTerminal = true
    request.note = { talk.note($0) }
    request.tell = { talk.say($0) }
    request.ask = { talk.ask($0, with: Prompt.ask) }
    let line = AttachLine(
      start: start, label: request.label, client: random(), nonce: random(), term: term,
      hasTrueColour: ["truecolor", "24bit"].contains(Process.environment("COLORTERM")))
    let loop = AttachLoop(
      AttachPlan(
        request: request, line: line, maxRetries: options.maxRetries, quiet: options.quiet),
      terminal, talk)
    let outcome = loop.run()
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
  private static var canSay: Bool {
    guard isatty(2) == 1 else { return true }
    var set = PollSet()
    set.add(2, reading: false, writing: true)
    set.wait(seconds: 0.5)
    return set.isWritable(2)
  }

  /// 64 bits as hexadecimal digits.
  private static func random() -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// The terminal's kind; one that cannot draw is taken for the usual one.
  private static var term: String {
    guard let term = Process.environment("TERM"), term != "dumb", !ShellWord.holdsControls(term)
    else { return "xterm-256color" }
    return term
  }
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
