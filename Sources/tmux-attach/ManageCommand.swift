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

extension HostVisit {
  /// 1 when there are none: a true zero.
  func list() throws -> ExitStatus {
    let sessions = try tmux.everything()
    if let form = options.summary {
      try output.text(form.line(sessions))
      if form.isBar { return .success }
    } else {
      try output.list(sessions.map(\.record), .sessions)
    }
    if !options.quiet {
      if sessions.isEmpty {
        diagnostics.tellPerson("no sessions: tmux-attach begins one, -N without attaching")
      }
      if isatty(2) == 1 { try tellOthers() }
    }
    return sessions.isEmpty ? .negative : .success
  }

  /// They are an addition: what hinders them is no fault of the list.
  private func tellOthers() throws {
    try output.flush()
    for other in (try? tmux.others()) ?? [] {
      let sessions = other.count == 1 ? "1 session" : "\(other.count) sessions"
      diagnostics.say("\(sessions) in the server \(other.label): --label \(other.label)")
    }
  }

  func new() throws {
    let session =
      if let name = options.session { try tmux.new(options.start(name, in: request)) } else {
        try newWithFreeName()
      }
    try output.list([session.record], .sessions)
    remember { $0.made(session.name) }
  }

  /// The host alone decides: a name that another took meanwhile is a reason to try the next.
  private func newWithFreeName() throws -> TmuxSession {
    // Wrong options are told before the host is asked.
    _ = try options.start(base, in: request)
    var taken = Set(try tmux.sessions().map(\.name))
    taken.formUnion(try SessionMemory.load(memoryPath).known)
    let tries = 100
    for _ in 0..<tries {
      let name = SessionMemory.freeName(taken: taken)
      do {
        return try tmux.new(options.start(name, in: request))
      } catch HostFailure.duplicate {
        diagnostics.note("\(name) was taken meanwhile")
        taken.insert(name)
      }
    }
    throw HostFailure.refused("\(tries) names in a row were taken")
  }

  func close(_ name: String) throws {
    for line in try tmux.close(name) where !options.quiet { diagnostics.say(line) }
    remember { $0.closed(name) }
  }

  /// What the host has done is done, also where nothing can be written here: it is said.
  private func remember(_ change: (inout SessionMemory) -> Void) {
    do throws(Failure) {
      try SessionMemory.update(memoryPath, change)
    } catch {
      diagnostics.say(error.message)
    }
  }

  /// Holds what is known here against the host's list; a record for each session.
  func reconcile() throws {
    let sessions = try tmux.sessions()
    let changes = try SessionMemory.update(memoryPath) { [base] in
      $0.reconcile(with: sessions.map(\.name), base: base)
    }
    let now = Timestamp.now()
    let records = changes.map { kind, name in
      SessionChange(
        kind: kind, name: name, session: sessions.first { $0.name == name }, time: now
      ).record
    }
    try output.list(records, .sessionChanges)
  }

  /// `--watch`: one record for each change of the list, those that are there at the start first; or
  /// its summary, whenever that is another. Goes on until a signal, a closed pipe or a link that
  /// cannot be kept.
  func watch() throws {
    var shown: String?
    func show(_ line: String) throws {
      if line == shown { return }
      shown = line
      try output.text(line)
      try output.flush()
    }
    if let form = options.summary {
      // A reader that has gone is met by the next line.
      lost = { try? show(form.trouble($0)) }
    }
    var last: SessionLook?
    while true {
      let look = try ask(try tmux.sessions(after: last))
      if let form = options.summary {
        try show(form.line(look.sessions))
      } else {
        let changes = SessionChange.between(
          last?.sessions ?? [], look.sessions, time: Timestamp.now())
        try output.list(changes.map(\.record), .sessionChanges)
        try output.flush()
      }
      last = look
      // There is nothing to wait for.
      if look.isFleeting { try idle(seconds: 1) }
      if OutputEnd.isClosed { Process.die(by: SIGPIPE) }
    }
  }
}

/// What became of a session: agentutils-records(5), `session_change`.
struct SessionChange {
  /// `added`, `dropped`, `changed` or `kept`.
  let kind: String
  let name: String
  /// What is to be told of it; nil when there is nothing but its name.
  let session: TmuxSession?
  let time: Timestamp

  var record: [UInt8] {
    let change = RecordText(.sessionChange).string("change", kind)
    return (session?.add(to: change) ?? change.string("name", name)).time(time).bytes
  }

  /// What differs between two lists: what is gone first, then what is there.
  ///
  /// A session that was closed and made again under its name is two changes.
  static func between(
    _ old: [TmuxSession], _ new: [TmuxSession], time: Timestamp
  ) -> [SessionChange] {
    func isSame(_ one: TmuxSession, _ other: TmuxSession) -> Bool {
      one.name == other.name && one.id == other.id && one.created == other.created
        && one.place == other.place
    }
    var changes: [SessionChange] = []
    for session in old where !new.contains(where: { isSame($0, session) }) {
      changes.append(
        SessionChange(kind: "dropped", name: session.name, session: session, time: time))
    }
    for session in new {
      let before = old.first { isSame($0, session) }
      if before.map({ $0.looks(like: session) }) == true { continue }
      changes.append(
        SessionChange(
          kind: before == nil ? "added" : "changed", name: session.name, session: session,
          time: time))
    }
    return changes
  }
}

extension Listing {
  /// `type` `session`, for people and for `-o tsv`.
  static let sessions = Listing(columns: columns, fields: ["name"] + fields)

  /// `type` `session_change`.
  static let sessionChanges = Listing(
    columns: [.time("TIME", "time"), .text("CHANGE", "change")] + columns,
    fields: ["time", "change", "name"] + fields)

  private static let fields = [
    "windows", "attached", "created", "activity", "directory", "command", "state", "since",
    "reason",
  ]

  private static let columns: [Column] = [
    .text("NAME", "name", gives: true),
    Column("STATE") { .row([.text($0["state"])], mood($0["state"]?.string)) },
    .time("SINCE", "since"),
    .text("REASON", "reason", gives: true),
    .number("WINDOWS", "windows"),
    .number("ATTACHED", "attached"),
    .time("ACTIVITY", "activity"),
    .text("COMMAND", "command", gives: true),
    .text("DIRECTORY", "directory", gives: true),
  ]

  private static func mood(_ state: String?) -> Cell.Mood {
    switch state {
    case "waiting": .odd
    case "working": .good
    case "unknown": .faint
    default: .plain
    }
  }
}
