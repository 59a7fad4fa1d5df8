import CLibc
import Core
import Screen
import Shell

/// `--capture`: what a session shows, once or again whenever it changes.
struct CaptureJob {
  /// Seconds between two looks.
  private static let interval = 0.5

  private let visit: HostVisit
  private let output: RowOutput
  private let isRecord: Bool
  private let isTerminal = isatty(1) == 1
  private var keeper: LinkKeeper

  init(_ visit: HostVisit, _ output: RowOutput) {
    self.visit = visit
    self.output = output
    isRecord = visit.options.form == .json
    keeper = LinkKeeper(visit)
  }

  /// With `--follow`, goes on until a signal, a closed pipe, the end of the session or a
  /// link that cannot be kept.
  mutating func run() throws -> Int32 {
    let session = visit.session
    var last: [UInt8]?
    while true {
      let screen = try keeper.ask { tmux throws(TmuxError) in try tmux.capture(session) }
      if screen != last { try show(screen, session, isFirst: last == nil) }
      last = screen
      try output.flush()
      guard visit.options.follows else { return ExitStatus.success.rawValue }
      try keeper.idle(seconds: Self.interval)
      if OutputEnd.isClosed { Process.die(by: SIGPIPE) }
    }
  }

  /// A terminal is drawn anew; in a pipe a line with a form feed stands between.
  private func show(_ screen: [UInt8], _ session: String, isFirst: Bool) throws(WriteFailure) {
    let text = String(decoding: screen, as: UTF8.self)
    if isRecord {
      let record =
        "{\"type\":\"screen\",\"session\":\(JSONQuote.string(session)),"
        + "\"text\":\(JSONQuote.string(text)),\"time\":\"\(Timestamp.now().rfc3339)\"}"
      try output.record(Array(record.utf8))
    } else if isTerminal {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      let shown = lines.map { Visible.line(String($0)) }.joined(separator: "\n")
      try output.text((visit.options.follows ? "\u{1b}[H\u{1b}[2J" : "") + shown)
    } else {
      try output.text((isFirst ? "" : "\u{c}\n") + text)
    }
  }
}
