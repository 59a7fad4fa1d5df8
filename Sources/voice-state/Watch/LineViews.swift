import Agent
import Core
import Screen

final class LineView: WatchView {
  private let writer: RecordWriter
  private let tellsAll: Bool
  private var changes = Changes()
  private var link = "connecting"

  init(_ writer: RecordWriter, tellsAll: Bool) {
    (self.writer, self.tellsAll) = (writer, tellsAll)
  }

  func show(_ moment: WatchMoment, most: Int) throws(WriteFailure) -> Int {
    var lines: [String] = []
    let word = moment.link.word(at: moment.clock)
    if word != link {
      let isBad = word == "stale" || word == "down"
      let wasBad = link == "stale" || link == "down"
      if isBad {
        lines.append(changes.line("", moment.now, moment.link.words(at: moment.clock).text))
      } else if wasBad {
        lines.append(changes.line("", moment.now, word))
      }
      // Back for the stream is not yet back for the state.
      link = word
    }
    if moment.isChanged && moment.isKnown {
      lines += changes.lines(
        moment.sessions, at: moment.now, tellsAll: tellsAll, reason: moment.reason)
    }
    for line in lines.prefix(most) { try writer.write(line + "\n") }
    try writer.flush()
    return min(lines.count, most)
  }

  func nextLook(after moment: WatchMoment) -> Double {
    guard let at = moment.link.stateAt, moment.link.word(at: moment.clock) != "stale" else {
      return .infinity
    }
    if case .ended = moment.link.phase { return .infinity }
    return at + BackendLink.staleAfter
  }
}

/// The sessions' own bytes, with every state.
final class JSONView: WatchView {
  private let writer: RecordWriter

  init(_ writer: RecordWriter) { self.writer = writer }

  func show(_ moment: WatchMoment, most: Int) throws(WriteFailure) -> Int {
    guard moment.isState else { return 0 }
    let sessions = moment.raw.prefix(most)
    for session in sessions { try JSONLines.write(session.bytes, to: writer) }
    try writer.flush()
    return sessions.count
  }

  func nextLook(after moment: WatchMoment) -> Double { .infinity }
}

/// A line for a status bar, whenever it is another.
final class BarView: WatchView {
  private let writer: RecordWriter
  private let form: OutputForm
  private var shown: String?

  init(_ writer: RecordWriter, _ form: OutputForm) {
    (self.writer, self.form) = (writer, form)
  }

  func show(_ moment: WatchMoment, most: Int) throws(WriteFailure) -> Int {
    let word = moment.link.word(at: moment.clock)
    guard moment.isKnown || word == "down" else { return 0 }
    return try print(BarForm.line(form, moment.sessions, at: moment.now, link: word)) ? 1 : 0
  }

  /// What was shown last would stay in the bar.
  func failed(_ status: ExitStatus, _ reason: String) throws(WriteFailure) {
    _ = try print(BarForm.trouble(form, status, reason))
  }

  /// Whether it is another line than before.
  private func print(_ line: String) throws(WriteFailure) -> Bool {
    guard line != shown else { return false }
    shown = line
    try writer.write(line + "\n")
    try writer.flush()
    return true
  }

  func nextLook(after moment: WatchMoment) -> Double { moment.clock + 1 }
}

extension Watch {
  /// A watch with the view that the command line and standard output ask for.
  static func make(
    _ options: StateOptions, _ diagnostics: Diagnostics, readsInput: Bool = false
  ) throws(WriteFailure) -> Watch {
    let isReplay =
      if case .replay = options.subject { true } else { options.speed != nil }
    var tellsAll = false
    if case .replay = options.subject { tellsAll = true }
    if options.form ?? .text == .text,
      let terminal = Terminal(usesStandardInput: !readsInput)
    {
      let signals = TerminalSignals(window: true)
      let box = Box()
      let view = LiveView(
        terminal, options, isReplay: isReplay, interrupted: { box.watch?.isInterrupted() == true })
      try terminal.enter()
      // What a person looks at does not go away with the end of a replay.
      let feed = VoiceFeed(options.filter, keepsEnded: tellsAll)
      let watch = Watch(options, diagnostics, feed: feed, view: view, signals: signals)
      box.watch = watch
      return watch
    }
    let feed = VoiceFeed(options.filter)
    let signals = TerminalSignals(window: false)
    let box = Box()
    let writer = RecordWriter(interrupted: { box.watch?.isInterrupted() == true })
    let view: any WatchView =
      switch options.form ?? .line {
      case .json: JSONView(writer)
      case .waybar, .tmux, .i3: BarView(writer, options.form ?? .tmux)
      case .text, .line: LineView(writer, tellsAll: tellsAll)
      }
    let watch = Watch(options, diagnostics, feed: feed, view: view, signals: signals)
    box.watch = watch
    return watch
  }

  var screen: LiveView? { view as? LiveView }

  private final class Box { weak var watch: Watch? }
}
