import CLibc
import Core
import Records
import Screen
import Shell

/// Does what is to be done with the sessions of a host, but for attaching.
func manage(_ options: AttachOptions, _ diagnostics: Diagnostics) throws -> Int32 {
  /// What a summary says where there is no list. A bar hides a block whose command fails.
  func tell(_ form: ListForm, _ status: Int32, _ reason: String, _ output: RowOutput) throws
    -> Int32
  {
    try output.text(form.trouble(ExitStatus(rawValue: status) ?? .failure, reason))
    try output.flush()
    return form.isBar && options.job == .list ? ExitStatus.success.rawValue : status
  }

  do {
    var request = try options.request(diagnostics)
    // What is typed is read, and found good, before anybody is called.
    let text = options.job == .type ? typedText(options, diagnostics) : nil
    if let text, text.isEmpty {
      diagnostics.note("nothing to type")
      return ExitStatus.success.rawValue
    }
    request.connectTimeout = options.connect.maxTime
    if options.quiet { request.tell = { _ in } }
    let visit = HostVisit(options, diagnostics, request)
    defer { visit.calls.close() }
    EndSignals.watch()
    do {
      let status = try visit.run(text)
      try visit.output.flush()
      return status.rawValue
    } catch let failure as HostFailure {
      // What came before the failure is good.
      try visit.output.flush()
      let status = visit.fail(failure)
      guard let form = options.summary else { return status }
      return try tell(form, status, failure.reason, visit.output)
    }
  } catch let error as Failure {
    guard let form = options.summary else { throw error }
    diagnostics.say(error.message)
    let output = RowOutput(form: nil, look: options.look, isQuiet: false)
    return try tell(form, error.status.rawValue, error.message, output)
  }
}

/// Reads standard input to its end. Text that may not be typed ends the process: it
/// is bad input, with one line, and no mistake in the options.
private func typedText(_ options: AttachOptions, _ diagnostics: Diagnostics) -> TypedText {
  if isatty(0) == 1 { diagnostics.tellPerson("waits for the text to type; Ctrl-D ends it") }
  do {
    let bytes = try BoundedFile.given("-", limit: .max)
    return options.isRaw ? TypedText(raw: bytes) : try TypedText(bytes)
  } catch let error as UsageError {
    diagnostics.fail("standard input: \(error.problem)")
  } catch let error as Failure {
    diagnostics.fail(error.message)
  } catch {
    diagnostics.fail("standard input: \(error)")
  }
}

/// A host whose sessions are looked after: how it is reached, what is remembered of
/// it, and its tmux. What goes on for long makes the link again when it is lost.
final class HostVisit {
  let options: AttachOptions
  let diagnostics: Diagnostics
  let request: LinkRequest
  let memoryPath: String
  let calls: HostCalls
  let tmux: RemoteTmux
  let output: RowOutput
  /// Called for each loss of the link.
  var lost: (HostFailure) -> Void = { _ in }
  private var reconnect: Reconnect

  init(_ options: AttachOptions, _ diagnostics: Diagnostics, _ request: LinkRequest) {
    (self.options, self.diagnostics, self.request) = (options, diagnostics, request)
    memoryPath = SessionMemory.path(for: request)
    calls = HostCalls(request, maxTime: options.connect.maxTime)
    tmux = RemoteTmux(calls, label: request.label)
    // Without its output, a job that has no other purpose would be none.
    let isQuiet = options.quiet && ![.watch, .capture, .asks, .decide].contains(options.job)
    output = RowOutput(form: options.form?.rows, look: options.look, isQuiet: isQuiet)
    reconnect = Reconnect(maxRetries: options.maxRetries)
  }

  var host: String { request.destination.name }
  var base: String { request.destination.section?.session ?? SessionName.base }
  var session: String { options.session ?? base }

  func run(_ text: TypedText?) throws -> ExitStatus {
    switch options.job {
    case .list: return try list()
    case .new: try new()
    case .close(let name):
      // The terminal that goes may be our own.
      clibc_signal_ignore(SIGHUP)
      try close(name)
    case .reconcile: try reconcile()
    case .watch: try watch()
    case .capture: try capture()
    case .asks: try asks()
    case .decide: try decide()
    default: if let text { try type(text) }
    }
    return .success
  }

  /// A signal ends the process here.
  func fail(_ failure: HostFailure) -> Int32 {
    calls.close()
    switch failure {
    case .interrupted(let signal): Process.die(by: signal)
    case .noSession where options.quiet: break
    default: for line in failure.lines(of: host) { diagnostics.say(line) }
    }
    return failure.exitStatus
  }

  // MARK: The link

  /// Asks until there is an answer.
  func ask<Result>(
    _ question: @autoclosure () throws(HostFailure) -> Result
  ) throws(HostFailure) -> Result {
    while true {
      do throws(HostFailure) {
        let result = try question()
        if let down = reconnect.answered() { say("link is back after \(Int(down.rounded())) s") }
        return result
      } catch {
        try wait(error)
      }
    }
  }

  /// Keeps the link for a time; a loss is left to the next question.
  func idle(seconds: Double) throws(HostFailure) {
    do throws(HostFailure) {
      try calls.idle(until: Clock.monotonic + seconds)
    } catch {
      try wait(error)
    }
  }

  private func wait(_ failure: HostFailure) throws(HostFailure) {
    let isNew = reconnect.downSince == nil
    let seconds = try reconnect.lost(failure)
    let until = Clock.monotonic + seconds
    if isNew { lost(failure) }
    say("link is down: \(failure.reason); next try in \(Int(seconds)) s")
    calls.close()
    try Reconnect.pause(until: until)
  }

  private func say(_ words: String) {
    if !options.quiet { diagnostics.error(host, words) }
  }
}

extension HostVisit {
  /// `--capture`: what a session shows, once or, with `--follow`, again whenever it changes, until a
  /// signal, a closed pipe, the end of the session or a link that cannot be kept.
  private func capture() throws {
    var last: [UInt8]?
    while true {
      let screen = try ask(try tmux.capture(session))
      if screen != last { try show(screen, isFirst: last == nil) }
      last = screen
      try output.flush()
      guard options.follows else { return }
      try idle(seconds: 0.5)
      if OutputEnd.isClosed { Process.die(by: SIGPIPE) }
    }
  }

  /// A terminal is drawn anew; in a pipe a line with a form feed stands between.
  private func show(_ screen: [UInt8], isFirst: Bool) throws(WriteFailure) {
    let text = String(decoding: screen, as: UTF8.self)
    if options.form == .json {
      let record = RecordText(.screen).string("session", session).string("text", text)
      try output.record(record.time(.now()).bytes)
    } else if isatty(1) == 1 {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      let shown = lines.map { Visible.line(String($0)) }.joined(separator: "\n")
      try output.text((options.follows ? "\u{1b}[H\u{1b}[2J" : "") + shown)
    } else {
      try output.text((isFirst ? "" : "\u{c}\n") + text)
    }
  }

  /// `--type`: standard input into the input line of a session.
  private func type(_ text: TypedText) throws(HostFailure) {
    if options.answers {
      return try tmux.choose(String(decoding: text.bytes, as: UTF8.self).trimmed, in: session)
    }
    var typing = Typing(
      session: session, text: text, returnAfter: options.pressesReturn ? options.returnDelay : nil,
      idleWait: options.waitsForIdle ? options.maxWait : nil)
    typing.isCommand = options.isCommand
    _ = try tmux.type(typing)
  }
}

extension HostVisit {
  /// `--asks`: a record for each permission that is asked for, and another when it is over. `open` says
  /// that all that waits was told, `lost` that the link is down. Goes on until a signal, a closed pipe
  /// or a link that cannot be kept.
  func asks() throws {
    var known: [String: ApprovalRecord] = [:]
    // Also those that cannot be read; nil where the link is not open.
    var ids: [String]?
    lost = { [output] failure in
      ids = nil
      try? output.record(RecordText(.lost).string("reason", failure.reason).time(.now()).bytes)
      try? output.flush()
    }
    while true {
      let asks = try ask(try tmux.asks(known: ids, host: host))
      for (id, record) in known where !asks.ids.contains(id) {
        known[id] = nil
        var record = record
        (record.state, record.time) = (.cancelled, .now())
        record.reason = "answered there or elsewhere, or the turn went on"
        try output.record(record.bytes)
      }
      for record in asks.new where known[record.id] == nil {
        known[record.id] = record
        try output.record(record.bytes)
      }
      if ids == nil {
        try output.record(RecordText(.open).string("host", host).time(.now()).bytes)
      }
      ids = asks.ids
      try output.flush()
      if OutputEnd.isClosed { Process.die(by: SIGPIPE) }
    }
  }

  /// `--decide`: takes the answers of standard input to the host, a line each: an id, a blank, and what
  /// the agent's hook is to print. A word for each line says what came of it; behind `unknown`, why.
  func decide() throws {
    // Who waits for the first answer waits for no link.
    try calls.connect()
    var lines = LineReader(descriptor: 0)
    while let line = try lines.next() {
      let bytes = Array(line.bytes)
      let end = bytes.firstIndex(of: 32) ?? bytes.endIndex
      let id = String(decoding: bytes[..<end], as: UTF8.self)
      // It is not sent twice: the first may have arrived.
      _ = try ask(try calls.connect())
      var word: String
      do throws(HostFailure) {
        word = try tmux.answer(id, with: Array(bytes[end...].dropFirst()))
      } catch {
        if case .interrupted = error { throw error }
        calls.close()
        word = "unknown \(error.reason)"
      }
      try output.text("\(word)\n")
      try output.flush()
    }
  }
}
