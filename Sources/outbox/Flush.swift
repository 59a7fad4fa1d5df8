import Agent
import Core
import Records
import Screen

struct Flush {
  private let options: OutboxOptions
  private let output: RowOutput
  private let diagnostics: Diagnostics
  private var worst = ExitStatus.success

  init(_ options: OutboxOptions, _ output: RowOutput, _ diagnostics: Diagnostics) {
    (self.options, self.output, self.diagnostics) = (options, output, diagnostics)
  }

  mutating func run() throws -> ExitStatus {
    guard options.isAll else {
      let profile = try Settings().profile(options.access.profile)
      try flush(profile.name, diagnostics)
      return worst
    }
    if Process.environment("AGENT_URL") != nil {
      throw Failure("AGENT_URL", "one address cannot be that of every profile")
    }
    for profile in try OutboxFile.profiles() {
      let about = diagnostics.about(profile)
      do {
        try flush(profile, about)
      } catch let failure as WriteFailure {
        throw failure
      } catch {
        fail(error, about)
      }
    }
    return worst
  }

  private mutating func fail(_ error: any Error, _ diagnostics: Diagnostics) {
    let reported = error as? any Reported
    diagnostics.say(reported?.message ?? "\(error)")
    worst = worst.worse(reported?.status ?? .failure)
  }

  private mutating func flush(_ profile: String?, _ diagnostics: Diagnostics) throws {
    let file = try OutboxFile(profile: profile, diagnostics)
    try file.look()
    if file.fold.isIdle { return try file.compact() }
    let lock = try file.sendingLock(patience: options.maxTime)
    defer { lock.release() }
    try file.compact()
    let waiting = file.fold.open
    try records(waiting.filter { $0.place != nil }, file, diagnostics)
    try prompts(waiting.filter { $0.place == nil }, file, diagnostics)
    try file.compact()
  }

  private mutating func records(
    _ items: [OutboxItem], _ file: OutboxFile, _ diagnostics: Diagnostics
  ) throws {
    if items.isEmpty { return }
    var sender: OutboxSender?
    var items = items
    do {
      sender = try self.sender(file, diagnostics)
      try sender?.settle()
      items = file.fold.open.filter { $0.place != nil }
    } catch {
      fail(error, diagnostics)
      sender = nil
    }
    for item in items {
      guard let place = item.place else { continue }
      if let there = sender {
        do {
          if let answered = try there.send(place) { try say(answered, file) }
          continue
        } catch let failure as Failure {
          fail(failure, diagnostics)
          // A server that is away, or lets nobody in, is so for the others, too.
          if failure.status != .failure, !there.isServerThereBehindPage { sender = nil }
        }
      }
      try say(item, file)
    }
  }

  private mutating func prompts(
    _ items: [OutboxItem], _ file: OutboxFile, _ diagnostics: Diagnostics
  ) throws {
    if items.isEmpty { return }
    var line: PromptLine?
    do { line = try self.line(file, diagnostics) } catch { fail(error, diagnostics) }
    for item in items {
      guard let there = line else {
        try say(item, file)
        continue
      }
      if item.wasSent, !there.mayRepeat {
        diagnostics.error(
          item.id.description, "it was perhaps said, and is not said again by itself")
        try say(item, file)
        continue
      }
      if isHeld(item, diagnostics) {
        var held = item
        held.isHeld = true
        try say(held, file)
        // What follows may build upon it.
        line = nil
        continue
      }
      do {
        try say(try there.say(item, of: file), file)
      } catch let failure as Failure {
        fail(failure, diagnostics)
        line = nil
        try file.look()
        try say(file.fold.open.first { $0.ids == item.ids } ?? item, file)
      }
    }
  }

  /// Whether a prompt is so old that a person is to say yes first, and nobody does.
  private func isHeld(_ item: OutboxItem, _ diagnostics: Diagnostics) -> Bool {
    let limit = Timestamp.now().adding(.seconds(-24 * 3600))
    if options.isOld || item.time > limit { return false }
    guard case .prompt(let text, _) = item.action else { return false }
    let since = "written at \(item.time.rfc3339)"
    guard Confirmation.canAsk else {
      diagnostics.error(item.id.description, "\(since): say it with --old, or drop it")
      return true
    }
    let words = Plain.line(text, limit: 200)
    return !Confirmation.isYes("\(words)\n\(item.id), \(since). Say it now?")
  }

  private func line(_ file: OutboxFile, _ diagnostics: Diagnostics) throws -> PromptLine {
    var access = options.access
    access.profile = file.profile
    return try PromptLine(
      AgentAccess(access, for: .chat, maxTime: options.tokenTime, diagnostics: diagnostics),
      maxSilence: options.maxTime)
  }

  private func sender(_ file: OutboxFile, _ diagnostics: Diagnostics) throws -> OutboxSender {
    var access = options.access
    access.profile = file.profile
    let limits = PDSLimits(timeout: options.maxTime, maxRetries: .max, option: "--max-time")
    let records = PDSRecords(
      try PDSAccess(access, tokenTime: options.tokenTime, diagnostics: diagnostics),
      repository: nil, limits, diagnostics)
    return OutboxSender(
      file, records, RecordCopies(profile: file.profile, account: records.account))
  }

  private mutating func say(_ item: OutboxItem, _ file: OutboxFile) throws {
    try output.write([item], of: file)
    switch item.state {
    case .merged where item.answer?.ack.isMade == false: worst = worst.worse(.negative)
    case .done, .merged: break
    case .conflict, .dropped: worst = worst.worse(.negative)
    case .queued, .unconfirmed, .held: worst = worst.worse(.temporary)
    }
  }
}
