import CLibc
import Core
import Records
import Screen
import Shell

struct LinkKeeper {
  private let visit: HostVisit
  private var reconnect: Reconnect
  var lost: (HostFailure) -> Void = { _ in }

  init(_ visit: HostVisit) {
    self.visit = visit
    reconnect = Reconnect(maxRetries: visit.options.maxRetries)
  }

  mutating func ask<Result>(
    _ question: (RemoteTmux) throws(HostFailure) -> Result
  ) throws(HostFailure) -> Result {
    while true {
      do throws(HostFailure) {
        let result = try question(visit.tmux)
        if let down = reconnect.answered() { say("link is back after \(Int(down.rounded())) s") }
        return result
      } catch {
        try wait(error)
      }
    }
  }

  /// Keeps the link for a time; a loss is left to the next question.
  mutating func idle(seconds: Double) throws(HostFailure) {
    let end = Clock.monotonic + seconds
    do throws(HostFailure) {
      try visit.calls.idle(until: end)
    } catch {
      try wait(error)
    }
  }

  private mutating func wait(_ failure: HostFailure) throws(HostFailure) {
    let isNew = reconnect.downSince == nil
    let seconds = try reconnect.lost(failure)
    let until = Clock.monotonic + seconds
    if isNew { lost(failure) }
    say("link is down: \(failure.reason); next try in \(Int(seconds)) s")
    visit.calls.close()
    try Reconnect.pause(until: until)
  }

  private func say(_ words: String) {
    if !visit.options.quiet { visit.diagnostics.error(visit.request.destination.name, words) }
  }
}

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
    (self.visit, self.output) = (visit, output)
    isRecord = visit.options.form == .json
    keeper = LinkKeeper(visit)
  }

  /// With `--follow`, goes on until a signal, a closed pipe, the end of the session or a
  /// link that cannot be kept.
  mutating func run() throws -> Int32 {
    let session = visit.session
    var last: [UInt8]?
    while true {
      let screen = try keeper.ask { tmux throws(HostFailure) in try tmux.capture(session) }
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
      let record = RecordText(.screen).string("session", session).string("text", text)
      try output.record(record.time(.now()).bytes)
    } else if isTerminal {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      let shown = lines.map { Visible.line(String($0)) }.joined(separator: "\n")
      try output.text((visit.options.follows ? "\u{1b}[H\u{1b}[2J" : "") + shown)
    } else {
      try output.text((isFirst ? "" : "\u{c}\n") + text)
    }
  }
}
