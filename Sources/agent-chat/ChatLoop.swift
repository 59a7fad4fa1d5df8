import Agent
import CLibc
import Core
import Records
import Screen
import Web

/// Drives the line to an agent: one question at a time, or a list, until it has ended. What
/// comes is handed to a view.
final class ChatLoop: ChatWaiter {
  private let line: any ChatLine
  private let view: ChatView
  private let options: ChatOptions
  private let diagnostics: Diagnostics
  private var place: String { line.place }
  private let speaks: Bool
  /// When the command gives up, seconds of `Clock.monotonic`.
  private let deadline: Double
  private var end: ChatEnd?
  /// The person asked for the end by ^C; in a question, it is then waited for until so long.
  private var abortUntil: Double?
  private var writing: WriteFailure?
  private enum Purpose { case answer, list, key }
  private var purpose = Purpose.list
  private var signal: Int32?
  /// When something of the answer came last, seconds of `Clock.monotonic`.
  private var lastNews = 0.0
  private var lastWait: String?
  private let agent: Settings.Profile
  /// How an approval is given was said for this question.
  private var isAdvised = false
  /// agent-approve(1), which asks the person of a conversation in its place.
  private var asking: ChildProcess?

  private(set) var trace = PromptTrace()
  /// Called before the words of a question go out; why they must not.
  var onSending: () -> Failure? = { nil }

  private(set) var closed: Failure?
  var aside: (before: () -> Void, behind: () -> Void)?

  /// Seconds for the end of a run that ^C ends; a line itself gives up after 5.
  private static let abortTime = 5.5
  /// How much is told of what the agent says to somebody else, characters.
  private static let longestAside = 400
  /// How long whoever asks the person may take once the answer is there, seconds.
  private static let askingTime = 2.0

  init(
    _ line: any ChatLine, _ agent: Settings.Profile, _ client: WebClient, view: ChatView,
    options: ChatOptions, diagnostics: Diagnostics
  ) {
    (self.line, self.view, self.options, self.diagnostics) = (line, view, options, diagnostics)
    self.agent = agent
    speaks = options.isVerbose || (isatty(2) == 1 && !options.isQuiet)
    deadline = options.reconnect.maxTime.map { Clock.monotonic + $0 } ?? .infinity
    super.init(client)
  }

  // MARK: - What is asked for

  func answer(_ question: ChatQuestion, _ speech: SpeechFile?) throws -> ExitStatus {
    let end = try ask(question)
    let status = report(end, key: question.key)
    if abortUntil != nil { die(SIGINT) }
    if let speech, end == .answered { try speak(speech) }
    line.stop()
    return status
  }

  /// Asks, and waits for the end, which has been shown when this returns.
  func ask(_ question: ChatQuestion) throws -> ChatEnd {
    (end, abortUntil, lastNews) = (nil, nil, Clock.monotonic)
    (purpose, isAborted, isAdvised) = (.answer, false, false)
    trace = PromptTrace()
    view.begin()
    do throws(LinkEnd) { end = try line.ask(question, self) } catch {}
    if writing != nil { asking = nil }
    if let writing, writing.code != EINTR { throw writing }
    endAsking()
    let outcome = end ?? .aborted(nil)
    if writing == nil { try view.finish(outcome) }
    return outcome
  }

  /// Who was asked is told what came of it before the answer is over.
  private func endAsking() {
    let limit = Clock.monotonic + Self.askingTime
    while let asking, !asking.reap(), Clock.monotonic < limit { usleep(10_000) }
    if let asking, asking.waitStatus == nil {
      _ = asking.end(within: 0.5)
      // What was typed for it is said to nobody.
      tcflush(0, TCIFLUSH)
    }
    asking = nil
  }

  private var limitOfSilence: Double {
    line.hasPatience ? .infinity : options.timeout.map { lastNews + $0 } ?? .infinity
  }

  var wasInterrupted: Bool { abortUntil != nil }

  func list(_ list: ChatList) throws -> [[UInt8]] {
    let rows = try waitFor { () throws(LinkEnd) in try line.list(list, self) }
    line.stop()
    return try rows.get()
  }

  private func waitFor<Value>(
    _ fetch: () throws(LinkEnd) -> Result<Value, Failure>
  ) throws -> Result<Value, Failure> {
    (purpose, signal) = (.list, nil)
    do throws(LinkEnd) { return try fetch() } catch {
      if let signal { die(signal) }
      if let writing { throw writing }
      return .failure(Failure(place, "no answer in \(maxTime) s", .temporary))
    }
  }

  /// Has the answer spoken. That it cannot be is told and no more: the answer is there.
  private func speak(_ file: SpeechFile) throws {
    guard !view.answer.isEmpty else { return }
    let result = try waitFor { () throws(LinkEnd) in
      try line.speak(view.answer, agent: options.agent, self)
    }
    switch result {
    case .success(let bytes):
      do throws(Failure) { try file.write(bytes) } catch { diagnostics.say(error.message) }
    case .failure(let failure): diagnostics.say("no audio: \(failure.message)")
    }
  }

  private var maxTime: String { Latency.seconds(options.reconnect.maxTime ?? 0) }

  func report(_ end: ChatEnd, key: String) -> ExitStatus {
    switch end {
    case .answered: return .success
    case .failed(let reason):
      diagnostics.say("the agent failed: \(reason)")
      return .negative
    case .aborted(let reason):
      if !wasInterrupted { diagnostics.say("aborted" + (reason.map { ": \($0)" } ?? "")) }
      return .negative
    case .paused(let reason):
      diagnostics.say("the agent waits for a person: \(reason)")
      return .temporary
    case .lost(let reason):
      // With it a second try says nothing twice.
      let hint = line.knowsKeys ? "; the key of the message is \(key)" : ""
      diagnostics.say("\(place): \(reason)\(hint)")
      return .temporary
    case .refused(let problem):
      diagnostics.say("\(place): \(problem.message)")
      return problem.status
    }
  }

  // MARK: - The loop

  /// Keeps the link until a key is there, the line is closed, or a signal comes. Returns the
  /// signal.
  func waitForKey() throws -> Int32? {
    (purpose, signal) = (.key, nil)
    do throws(LinkEnd) { try line.rest(self) } catch {}
    if let writing, writing.code != EINTR { throw writing }
    return signal
  }

  override var isOver: Bool { false }

  override var files: [pollfd] { Self.signalsAndOutput + Self.reading(purpose == .key ? 0 : nil) }

  override func willWait() throws(LinkEnd) -> Double {
    if writing == nil {
      do throws(WriteFailure) { try view.flush() } catch { writing = error }
    }
    if let writing, writing.code != EINTR { throw .over }
    if purpose != .answer, closed != nil { throw .over }
    let now = Clock.monotonic
    switch purpose {
    case .key:
      if isReadable(0) { throw .over }
      return .infinity
    case .list:
      if now >= deadline { throw .over }
      return deadline
    case .answer:
      if let abortUntil, now >= abortUntil { end = .aborted(nil) }
      if end == nil, now >= deadline { end = .lost("no answer in \(maxTime) s") }
      if end == nil, now >= limitOfSilence {
        let patience = Latency.seconds(options.timeout ?? 0)
        end = .lost("nothing of the answer came for \(patience) s")
      }
      if end != nil { throw .over }
      return min(deadline, limitOfSilence, abortUntil ?? .infinity)
    }
  }

  override func hasWaited() throws(LinkEnd) {
    if let signal = EndSignals.next() {
      if purpose != .answer {
        self.signal = signal
        throw .over
      }
      heed(signal)
      if isAborted, !endsItself { throw .over }
    }
    if OutputEnd.isClosed {
      writing = WriteFailure(code: EPIPE)
      throw .over
    }
  }

  /// Handles a signal: ^C ends the run, and then the command; another one does so at once.
  private func heed(_ signal: Int32) {
    // Of a conversation, whose line is not typed now.
    if signal == SIGWINCH || signal == SIGCONT { return }
    guard signal == SIGINT, abortUntil == nil else { die(signal) }
    abortUntil = Clock.monotonic + Self.abortTime
    isAborted = true
  }

  func stop() { line.stop() }

  func die(_ signal: Int32) -> Never {
    _ = asking?.end(within: 0.5)
    line.stop()
    Process.die(by: signal)
  }

  // MARK: - What the line tells

  override func link(_ news: LinkNews) {
    trace.receive(news)
    switch news {
    case .open(let place, let isFirst, let down):
      lastWait = nil
      guard let down else { return tell(isVerboseOnly: true, "link is open: \(place)") }
      tell("link is \(isFirst ? "open" : "back") after \(Latency.short(down)) s")
    case .lost(let reason, let wait):
      tell("link is down: \(reason); next try in \(Latency.short(wait)) s")
    case .waits(let words, let wait):
      // A person has something to do: said once, whoever listens.
      if words != lastWait {
        lastWait = words
        say(words)
      }
      tell(isVerboseOnly: true, "next try in \(Latency.short(wait)) s")
    case .note(let words), .fault(let words): say(words)
    case .ended(let problem): closed = problem
    }
  }

  override func news(_ news: ChatNews) {
    trace.receive(news)
    if case .ambient(let message) = news {
      guard message.state != .partial, options.form == .text else { return receive(news) }
      let words = Plain.line(message.text, limit: Self.longestAside)
      return tell(isVerboseOnly: true, "to somebody else, it seems: \(words)")
    }
    lastNews = Clock.monotonic
    receive(news)
    // Without its name nobody finds it again.
    if case .thread(let thread) = news, view.isScreen || speaks {
      say("a new conversation: \(thread.id)")
    }
    if case .approval(let approval) = news, approval.state == .pending, !view.isScreen, speaks {
      say("waits for an approval: \(approval.tool): \(approval.summary ?? approval.id)")
    }
    guard let advice = news.adviceOnApproval, agent.kind.backend.has.contains(.approvals) else {
      return
    }
    let words = ["agent-approve"] + (agent.name.map { ["-p", $0] } ?? []) + ["-i"]
    if advice == ChatNews.elsewhere, options.mode == .interactive,
      (0...2).allSatisfy({ isatty($0) == 1 })
    {
      if asking?.reap() != false {
        breakLine()
        asking = try? ChildProcess(
          words + ["--once", "--color", options.look.colour.rawValue] + options.access.words,
          input: .ours, output: .ours)
      }
    } else if !isAdvised, view.isScreen || speaks {
      isAdvised = true
      say("\(advice): \(ShellText.line(words))")
    }
  }

  override func sends() -> Failure? {
    // A question that is said again is one.
    if trace.hasBegun { return nil }
    if let problem = onSending() {
      trace.fail(problem)
      return problem
    }
    trace.begin()
    return nil
  }

  private func receive(_ news: ChatNews) {
    if writing != nil { return }
    do { try view.receive(news) } catch { writing = error }
  }

  private func tell(isVerboseOnly: Bool = false, _ words: String) {
    if isVerboseOnly ? options.isVerbose : speaks { say(words) }
  }

  private func say(_ words: String) {
    aside?.before()
    breakLine()
    diagnostics.say(words)
    aside?.behind()
  }

  private func breakLine() {
    guard writing == nil else { return }
    do { try view.breakLine() } catch { writing = error }
  }
}

extension ChatNews {
  fileprivate static let elsewhere = "in another terminal"
  /// A gateway denies at once what nobody who is connected could allow (its CONTRACT.md 8.1).
  private static let lonely = "cannot wait for interactive exec approval"

  /// When the command that answers is to run; nil for what is no approval.
  fileprivate var adviceOnApproval: String? {
    switch self {
    case .approval(let approval) where approval.state == .pending: Self.elsewhere
    case .toolCall(let call) where call.state == .waitingApproval: Self.elsewhere
    case .turn(let turn) where turn.state == .paused: Self.elsewhere
    case .toolCall(let call) where call.state == .failed && call.stdout?.holds(Self.lonely) == true:
      "nobody was there to allow it; before the next try, in another terminal"
    default: nil
    }
  }
}

// MARK: - Lists

extension ChatLoop {
  func printList() throws -> ExitStatus {
    let output = RowOutput(
      form: options.form == .json ? .json : isatty(1) == 1 ? .table : .tsv, look: options.look,
      isQuiet: false)
    switch options.mode {
    case .agents:
      let rows = try list(.agents)
      if rows.isEmpty {
        output.tellEmpty("no agents: whoever runs the server makes them there", diagnostics)
      }
      if output.form == .tsv {
        try tellAgents(rows, output)
      } else {
        try output.list(rows, .agents)
      }
    case .threads:
      let rows = try list(.threads)
      try output.list(rows, .threads)
      if rows.isEmpty {
        output.tellEmpty("no conversations yet: agent-chat MESSAGE begins one", diagnostics)
      }
    case .abort:
      let runs = try list(.ending(thread: options.thread, agent: options.agent))
      try output.list(runs, .runs)
      try output.flush()
      // There was nothing to end.
      return runs.isEmpty ? .negative : .success
    default:
      let rows = try list(
        .history(thread: options.thread, agent: options.agent, count: options.count))
      if options.form == .json { try output.list(rows, .threads) } else { try tell(rows, output) }
      if rows.isEmpty {
        output.tellEmpty("nothing was said here yet: agent-chat MESSAGE begins", diagnostics)
      }
    }
    try output.flush()
    return isCut ? .failure : .success
  }

  /// `who: words`, a message after the other.
  private func tell(_ rows: [[UInt8]], _ output: RowOutput) throws {
    let isScreen = output.form == .table
    for row in rows {
      guard let message = try? JSONValue.parse(row) else { continue }
      let who = Self.speaker(message["author"]?.string ?? message["role"]?.string ?? "?")
      let files = message["attachments"]?.elements.count ?? 0
      let words = [
        message["text"]?.string ?? "",
        files == 0 ? "" : files == 1 ? "(1 attachment)" : "(\(files) attachments)",
      ].filter { !$0.isEmpty }.joined(separator: " ")
      // No line of a message can pass for another's.
      let lines = words.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      let text = "\(who): \(lines.joined(separator: "\n  "))"
      try output.text(isScreen ? StreamedText.visible(text) : text)
    }
  }

  /// Who speaks, whatever a stranger's record calls them: one line, and no colon but the last.
  static func speaker(_ name: String) -> String {
    let words = String(name.prefix(200)).split { $0.isWhitespace || $0.isNewline }
      .map { $0.hasSuffix(":") ? $0.dropLast() : $0 }
    return String(words.joined(separator: " ").prefix(60))
  }

  private func tellAgents(_ rows: [[UInt8]], _ output: RowOutput) throws {
    for row in rows {
      guard let agent = try? JSONValue.parse(row) else { continue }
      let words = [agent["id"], agentName(agent)].map { RowText.escape($0?.text ?? "") }
      try output.text(words.joined(separator: "\t"))
    }
  }
}

private func agentName(_ agent: JSONValue) -> JSONValue? {
  agent["identity"]?["name"] ?? agent["name"] ?? agent["id"]
}

extension Listing {
  fileprivate static let agents = Listing(
    columns: [.text("ID", "id"), Column("NAME", gives: true) { .text(agentName($0)) }],
    fields: ["id", "name"])
  fileprivate static let threads = Listing(
    columns: [.text("ID", "id"), .text("TITLE", "title", gives: true), .time("LAST", "last")],
    fields: ["id", "title", "last"])
  fileprivate static let runs = Listing(columns: [.text("ENDED", "id")], fields: ["id"])
}

// MARK: - By way of the outbox

/// `--queue`: a question is on disk before anybody is asked, and stays there unless it is answered.
extension ChatLoop {
  /// Asks now if that is possible, else keeps it.
  func queue(_ question: ChatQuestion) throws -> ExitStatus {
    let file = try OutboxFile(profile: agent.name, diagnostics)
    // What nobody will ever answer is not kept.
    if let silence = line.silence {
      diagnostics.error(line.place, silence)
      return .failure
    }
    let lock = try file.sender(patience: 0)
    defer { lock?.release() }
    var isFirst = lock != nil
    let entries = try file.add { waiting in
      // One that nobody repeats is for its writer to decide on; it keeps nobody waiting.
      let waits = waiting.open.contains { $0.place == nil && (!$0.wasSent || line.knowsKeys) }
      isFirst = isFirst && !waits
      return [.prompt(text: question.text, thread: question.thread)]
    }
    guard let item = entries.first.map({ OutboxItem($0) }) else { return .failure }
    diagnostics.note("key \(item.id)")
    guard isFirst else {
      let reason = lock == nil ? "another process says what waits" : "others wait before it"
      return try kept(item, Failure(reason, .temporary), file)
    }
    if !line.hasLink, let problem = try unsupportedReason() { return try kept(item, problem, file) }
    var keyed = question
    keyed.key = item.id.description
    return try ask(keyed, item, file)
  }

  private func ask(
    _ question: ChatQuestion, _ item: OutboxItem, _ file: OutboxFile
  ) throws -> ExitStatus {
    onSending = {
      do throws(Failure) { try file.noteSending(item) } catch {
        return error
      }
      return nil
    }
    let end = try ask(question)
    if wasInterrupted, !trace.hasBegun {
      var ack = OutboxAck(.dropped, reason: "interrupted")
      ack.isByHand = true
      _ = try file.answer(item, ack)
      die(SIGINT)
    }
    switch trace.outcome(end, knowsKeys: line.knowsKeys) {
    case .ack(let ack):
      _ = try file.answer(item, ack)
      try file.compact()
      let status = report(end, key: question.key)
      if wasInterrupted { die(SIGINT) }
      line.stop()
      return status
    case .waits(let problem):
      line.stop()
      try file.look()
      let status = try kept(file.fold.open.first { $0.ids == item.ids } ?? item, problem, file)
      if wasInterrupted { die(SIGINT) }
      return status
    }
  }

  /// Why a server that tells nothing before it is asked cannot be asked; nil when it can.
  private func unsupportedReason() throws -> Failure? {
    do {
      _ = try list(.agents)
    } catch let failure as Failure {
      return failure.unsupportedReason
    }
    return nil
  }

  private func kept(
    _ item: OutboxItem, _ problem: Failure, _ file: OutboxFile
  ) throws -> ExitStatus {
    let what = item.state == .unconfirmed ? "it was perhaps said; see outbox(1)" : "it is kept"
    diagnostics.error(line.place, "\(problem.message); \(what)")
    if options.form == .json {
      let view = RecordView(isTerminal: isatty(1) == 1)
      try view.write(item.record(file.profile))
      try view.flush()
    }
    return problem.status == .negative ? .failure : problem.status
  }
}
