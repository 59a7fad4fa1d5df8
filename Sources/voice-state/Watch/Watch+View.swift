import Core
import Screen

extension Watch {
  /// A watch with the view that the command line and standard output ask for.
  ///
  /// - Parameters:
  ///   - subject: what is watched.
  ///   - readsInput: whether records come on standard input.
  /// - Throws: `WriteFailure` when the terminal has gone.
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
    let view: WatchView =
      switch options.form ?? .line {
      case .json: JSONView(writer)
      case .waybar, .tmux, .i3: BarView(writer, options.form ?? .tmux)
      case .text, .line: LineView(writer, tellsAll: tellsAll)
      }
    let watch = Watch(options, diagnostics, feed: feed, view: view, signals: signals)
    box.watch = watch
    return watch
  }

  /// The screen, nil when it is no terminal.
  var screen: LiveView? { view as? LiveView }

  private final class Box { weak var watch: Watch? }
}
