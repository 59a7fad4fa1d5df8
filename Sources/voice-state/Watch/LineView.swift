import Agent
import Core
import Screen

/// Lines for a pipe: one for each change, the sessions' own bytes with every state, or one for a
/// status bar whenever it is another.
final class LineView {
  let form: OutputForm
  private let tellsAll: Bool
  private let writer: RecordWriter
  private var changes = Changes()
  private var link = "connecting"
  private var shown: String?

  init(_ form: OutputForm, tellsAll: Bool, interrupted: @escaping () -> Bool) {
    (self.form, self.tellsAll) = (form, tellsAll)
    writer = RecordWriter(interrupted: interrupted)
  }

  /// Shows what there is, in so many lines at most. Returns how many were shown.
  func show(_ watch: Watch, most: Int) throws(WriteFailure) -> Int {
    let word = watch.link.word(at: watch.clock)
    var lines: [String] = []
    switch form {
    case .json:
      let sessions = watch.isState ? watch.feed.raw.prefix(most) : []
      for session in sessions { try writer.write(json: session.bytes) }
      try writer.flush()
      return sessions.count
    case .waybar, .tmux, .i3:
      guard watch.feed.isKnown || word == "down" else { return 0 }
      return try print(form.line(watch.sessions, at: watch.now, link: word))
    case .text, .line:
      lines += linkChange(word, watch)
      if watch.isChanged && watch.feed.isKnown {
        lines += changes.lines(
          watch.sessions, at: watch.now, tellsAll: tellsAll, reason: { watch.feed.reason(of: $0) })
      }
    }
    for line in lines.prefix(most) { try writer.write(line + "\n") }
    try writer.flush()
    return min(lines.count, most)
  }

  private func linkChange(_ word: String, _ watch: Watch) -> [String] {
    if word == link { return [] }
    let bad = ["stale", "down"]
    // Back for the stream is not yet back for the state.
    defer { link = word }
    if bad.contains(word) {
      return [changes.line("", watch.now, watch.link.words(at: watch.clock).text)]
    }
    return bad.contains(link) ? [changes.line("", watch.now, word)] : []
  }

  /// What a bar shows last would stay there.
  func failed(_ status: ExitStatus, _ reason: String) throws(WriteFailure) {
    if form.isBar { _ = try print(form.trouble(status, reason)) }
  }

  private func print(_ line: String) throws(WriteFailure) -> Int {
    guard line != shown else { return 0 }
    shown = line
    try writer.write(line + "\n")
    try writer.flush()
    return 1
  }

  /// When it wants to be shown again though nothing came, `Clock.monotonic`.
  func nextLook(after watch: Watch) -> Double {
    if form.isBar { return watch.clock + 1 }
    guard form != .json, let at = watch.link.stateAt,
      watch.link.word(at: watch.clock) != "stale"
    else { return .infinity }
    if case .ended = watch.link.phase { return .infinity }
    return at + BackendLink.staleAfter
  }
}
