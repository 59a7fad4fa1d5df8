import Agent
import CLibc
import Core
import Web

/// A question by way of the profile's outbox (`--queue`): it is on disk before anybody is asked,
/// and stays there unless it is answered.
struct QueuedQuestion {
  private let question: ChatQuestion
  private let line: any ChatLine
  private let loop: ChatLoop
  private let options: ChatOptions
  private let diagnostics: Diagnostics
  private let file: OutboxFile

  init(
    _ question: ChatQuestion, _ agent: Settings.Profile, _ line: any ChatLine, _ loop: ChatLoop,
    _ options: ChatOptions, _ diagnostics: Diagnostics
  ) throws(Failure) {
    (self.question, self.line, self.loop) = (question, line, loop)
    (self.options, self.diagnostics) = (options, diagnostics)
    file = try OutboxFile(profile: agent.name, diagnostics)
  }

  /// Asks now if that is possible, else keeps it.
  func ask() throws -> ExitStatus {
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
      let waits = waiting.open.contains {
        $0.place == nil && (!$0.wasSent || line.knowsKeys)
      }
      isFirst = isFirst && !waits
      return [.prompt(text: question.text, thread: question.thread)]
    }
    guard let item = entries.first.map({ OutboxItem($0) }) else { return .failure }
    diagnostics.note("key \(item.id)")
    guard isFirst else {
      let reason = lock == nil ? "another process says what waits" : "others wait before it"
      return try kept(item, Failure(reason, .temporary))
    }
    if !line.hasLink, let problem = try unsupportedReason() { return try kept(item, problem) }
    return try ask(item)
  }

  private func ask(_ item: OutboxItem) throws -> ExitStatus {
    var question = question
    question.key = item.id.description
    loop.onSending = {
      do throws(Failure) { try file.noteSending(item) } catch {
        return error
      }
      return nil
    }
    let end = try loop.ask(question)
    if loop.wasInterrupted, !loop.trace.hasBegun {
      var ack = OutboxAck(.dropped, reason: "interrupted")
      ack.isByHand = true
      _ = try file.answer(item, ack)
      loop.die(SIGINT)
    }
    switch loop.trace.outcome(end, knowsKeys: line.knowsKeys) {
    case .ack(let ack):
      _ = try file.answer(item, ack)
      try file.compact()
      let status = loop.report(end, key: question.key)
      if loop.wasInterrupted { loop.die(SIGINT) }
      loop.stop()
      return status
    case .waits(let problem):
      loop.stop()
      try file.look()
      let status = try kept(file.fold.open.first { $0.ids == item.ids } ?? item, problem)
      if loop.wasInterrupted { loop.die(SIGINT) }
      return status
    }
  }

  /// Why a server that tells nothing before it is asked cannot be asked; nil when it can.
  private func unsupportedReason() throws -> Failure? {
    do {
      _ = try loop.list(.agents)
    } catch let failure as Failure {
      return failure.unsupportedReason
    }
    return nil
  }

  private func kept(_ item: OutboxItem, _ problem: Failure) throws -> ExitStatus {
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
