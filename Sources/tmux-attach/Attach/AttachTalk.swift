import CLibc
import Core
import Shell

/// What is said to a person beside the session: notes, new host keys, questions. While
/// a session is on the screen nothing may be said there: it is kept for the end.
///
/// A link calls it, from the thread of the loop.
final class AttachTalk: @unchecked Sendable {
  /// Whether the screen is the session's.
  var isHeld = false
  /// Takes the status line away, before something is said.
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

  /// Says a line with -v.
  func note(_ text: String) {
    if diagnostics.verbose { say(text) }
  }

  /// Says what was kept.
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

  /// Asks for a secret.
  func ask(_ prompt: String, with asking: (String) -> [UInt8]?) -> [UInt8]? {
    if let answer = answers[prompt], used.insert(prompt).inserted { return answer }
    clear()
    let answer = asking(prompt)
    answers[prompt] = answer
    used.insert(prompt)
    return answer
  }
}
