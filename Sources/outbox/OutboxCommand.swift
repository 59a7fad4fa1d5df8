import Agent
import Core
import Kinds
import Records
import Screen

/// outbox(1): what could not be sent is kept, and sent once when it can be.
public func outboxMain() {
  OutboxOptions.table.run(OutboxOptions(), verbose: \.isVerbose, run)
}

private func run(_ options: OutboxOptions, _ diagnostics: Diagnostics) throws -> ExitStatus {
  let output = RowOutput(form: options.form, look: options.look, isQuiet: false)
  if options.verb == .flush { return try flush(options, output, diagnostics) }
  let profile = try Settings().profile(options.access.profile)
  let file = try OutboxFile(profile: profile.name, diagnostics)
  switch options.verb {
  case .add:
    var lines = try AddedLines(options, file, profile, output, diagnostics)
    do { return try lines.run() } catch let failure as Failure where failure.place == nil {
      throw Failure("standard input", failure)
    }
  case .list, .flush:
    try file.look()
    let items = file.fold.open + (options.isAll ? file.fold.closed : [])
    try output.write(items, of: file)
    if items.isEmpty {
      output.tellEmpty(
        "nothing waits to be sent: --queue of agent-chat and task add keeps it here when offline",
        diagnostics)
    }
    return items.isEmpty ? .negative : .success
  case .drop: return try drop(options, file, output, diagnostics)
  }
}

private func drop(
  _ options: OutboxOptions, _ file: OutboxFile, _ output: RowOutput, _ diagnostics: Diagnostics
) throws -> ExitStatus {
  // What is on its way just now cannot be called back.
  let lock = try file.sendingLock(patience: 10)
  defer { lock.release() }
  try file.look()
  let known = file.fold.open + file.fold.closed
  var status = ExitStatus.success
  for id in options.ids where !known.contains(where: { $0.ids.contains(id) }) {
    diagnostics.error(id.description, "nothing of this id is in the outbox")
    status = .negative
  }
  let wanted = known.filter { options.isAll || !Set(options.ids).isDisjoint(with: $0.ids) }
  var ack = OutboxAck(.dropped, reason: "by hand")
  ack.isByHand = true
  for item in wanted { try output.write([try file.answer(item, ack)], of: file) }
  try file.compact()
  if options.isAll && wanted.isEmpty { return .negative }
  return status
}

extension RowOutput {
  /// Writes items; they are out when this returns.
  func write(_ items: [OutboxItem], of file: OutboxFile) throws(WriteFailure) {
    try list(items.map { $0.record(file.profile) }, Self.items)
    try flush()
  }

  private static let items = Listing(
    columns: [
      .text("ID", "id"),
      .text("OP", "op"),
      .status("STATE", "state"),
      .time("TIME", "time"),
      Listing.Column("WHAT", gives: true) { record in
        .first([
          .text(record["text"]),
          .row([.text(record["collection"]), .text(record["rkey"])], by: "/"),
        ])
      },
      .text("REASON", "reason", gives: true),
    ],
    fields: [
      "id", "op", "state", "time", "profile", "collection", "rkey", "thread", "text", "cid",
      "reason",
    ])
}

struct AddedLines {
  private let file: OutboxFile
  private let output: RowOutput
  private let records: PDSRecords?
  private let copies: RecordCopies?
  private var faults: FaultLog
  private var changes: [OutboxChange] = []

  private static let most = 256

  init(
    _ options: OutboxOptions, _ file: OutboxFile, _ profile: Settings.Profile,
    _ output: RowOutput, _ diagnostics: Diagnostics
  ) throws(Failure) {
    (self.file, self.output) = (file, output)
    faults = FaultLog(diagnostics)
    guard profile.kind == .pds || profile.pds != nil else {
      (records, copies) = (nil, nil)
      return
    }
    let access = try PDSAccess(options.access, diagnostics: diagnostics)
    let records = PDSRecords(access, repository: nil, PDSLimits(), diagnostics)
    self.records = records
    copies = RecordCopies(profile: file.profile, account: records.account)
  }

  mutating func run() throws -> ExitStatus {
    var input = try RecordInput(path: "-", .lines)
    while let line = try input.next(beforeBlocking: { _ in try keep() }) {
      do throws(Failure) {
        changes.append(try change(line.bytes))
      } catch {
        faults.line("-", line.number, error.reason)
      }
      if changes.count == Self.most { try keep() }
    }
    try keep()
    faults.finish()
    return faults.hasFault ? .failure : .success
  }

  private mutating func keep() throws {
    if changes.isEmpty { return }
    let entries = try file.add { _ in changes.map { $0.made(from: copies) } }
    changes = []
    try output.write(entries.map { OutboxItem($0) }, of: file)
  }

  private func change(_ line: UnsafeRawBufferPointer) throws(Failure) -> OutboxChange {
    let member = { ScanMembers.text(of: $0, in: line) }
    if let (fault, offset) = ScanValidator.firstFault(line) {
      throw Failure("\(fault.reason) at byte \(offset)")
    }
    if member("op") != nil { return try OutboxChange(reading: line) }
    if member("type") == "message" {
      guard member("role") == "user" else { throw Failure("a message that is not the user's") }
      guard let text = member("text"), !text.isEmpty else {
        throw Failure("a message without text")
      }
      return .prompt(text: text, thread: member("thread"))
    }
    let row = try RecordRow(line)
    guard let collection = row.collection else { throw Failure("a key alone, and no collection") }
    guard let value = row.value else { throw Failure("neither op nor value") }
    var owner: Repository?
    if let repository = row.repository {
      switch records?.knownOwner(repository) {
      case .own: break
      case .unknown: owner = repository
      case .others, nil: throw Failure("somebody else's record")
      }
    }
    return try .put(
      RecordPlace(collection, row.key, of: owner), value,
      base: row.cid.map(RecordSwap.cid) ?? .any)
  }
}

private func flush(
  _ options: OutboxOptions, _ output: RowOutput, _ diagnostics: Diagnostics
) throws -> ExitStatus {
  guard options.isAll else {
    let profile = try Settings().profile(options.access.profile)
    let flush = try Flush(profile.name, options, output, diagnostics)
    try flush.run()
    return flush.worst
  }
  if Process.environment("AGENT_URL") != nil {
    throw Failure("AGENT_URL", "one address cannot be that of every profile")
  }
  var worst = ExitStatus.success
  for profile in try OutboxFile.profiles() {
    let about = diagnostics.about(profile)
    do {
      let flush = try Flush(profile, options, output, about)
      defer { worst = worst.worse(flush.worst) }
      try flush.run()
    } catch let failure as WriteFailure {
      throw failure
    } catch {
      worst = worst.worse(say(error, about))
    }
  }
  return worst
}

/// Says what went wrong. Returns how the command is to leave.
private func say(_ error: any Error, _ diagnostics: Diagnostics) -> ExitStatus {
  let reported = error as? any Reported
  diagnostics.say(reported?.message ?? "\(error)")
  return reported?.status ?? .failure
}

/// Sends what waits in the outbox of one profile.
private final class Flush {
  private let options: OutboxOptions
  private let output: RowOutput
  private let file: OutboxFile
  private let diagnostics: Diagnostics
  private(set) var worst = ExitStatus.success

  init(
    _ profile: String?, _ options: OutboxOptions, _ output: RowOutput, _ diagnostics: Diagnostics
  ) throws(Failure) {
    (self.options, self.output, self.diagnostics) = (options, output, diagnostics)
    file = try OutboxFile(profile: profile, diagnostics)
  }

  func run() throws {
    try file.look()
    if file.fold.isIdle { return try file.compact() }
    let lock = try file.sendingLock(patience: options.maxTime)
    defer { lock.release() }
    try file.compact()
    let waiting = file.fold.open
    try records(waiting.filter { $0.place != nil })
    try prompts(waiting.filter { $0.place == nil })
    try file.compact()
  }

  private func fail(_ error: any Error) { worst = worst.worse(outbox.say(error, diagnostics)) }

  private func records(_ items: [OutboxItem]) throws {
    if items.isEmpty { return }
    var sender: OutboxSender?
    var items = items
    do {
      sender = try self.sender()
      try sender?.settle()
      items = file.fold.open.filter { $0.place != nil }
    } catch {
      fail(error)
      sender = nil
    }
    for item in items {
      guard let place = item.place else { continue }
      if let there = sender {
        do {
          if let answered = try there.send(place) { try say(answered) }
          continue
        } catch let failure as Failure {
          fail(failure)
          // A server that is away, or lets nobody in, is so for the others, too.
          if failure.status != .failure, !there.isServerThereBehindPage { sender = nil }
        }
      }
      try say(item)
    }
  }

  private func prompts(_ items: [OutboxItem]) throws {
    if items.isEmpty { return }
    var line: PromptLine?
    do { line = try self.line() } catch { fail(error) }
    for item in items {
      guard let there = line else {
        try say(item)
        continue
      }
      if item.wasSent, !there.mayRepeat {
        diagnostics.error(
          item.id.description, "it was perhaps said, and is not said again by itself")
        try say(item)
        continue
      }
      if isHeld(item) {
        var held = item
        held.isHeld = true
        try say(held)
        // What follows may build upon it.
        line = nil
        continue
      }
      do {
        try say(try there.say(item, of: file))
      } catch let failure as Failure {
        fail(failure)
        line = nil
        try file.look()
        try say(file.fold.open.first { $0.ids == item.ids } ?? item)
      }
    }
  }

  /// Whether a prompt is so old that a person is to say yes first, and nobody does.
  private func isHeld(_ item: OutboxItem) -> Bool {
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

  private var access: AccessOptions {
    var access = options.access
    access.profile = file.profile
    return access
  }

  private func line() throws -> PromptLine {
    try PromptLine(
      AgentAccess(access, for: .chat, maxTime: options.tokenTime, diagnostics: diagnostics),
      maxSilence: options.maxTime)
  }

  private func sender() throws -> OutboxSender {
    let limits = PDSLimits(timeout: options.maxTime, maxRetries: .max, option: "--max-time")
    let records = PDSRecords(
      try PDSAccess(access, tokenTime: options.tokenTime, diagnostics: diagnostics),
      repository: nil, limits, diagnostics)
    return OutboxSender(
      file, records, RecordCopies(profile: file.profile, account: records.account))
  }

  private func say(_ item: OutboxItem) throws {
    try output.write([item], of: file)
    switch item.state {
    case .merged where item.answer?.ack.isMade == false: worst = worst.worse(.negative)
    case .done, .merged: break
    case .conflict, .dropped: worst = worst.worse(.negative)
    case .queued, .unconfirmed, .held: worst = worst.worse(.temporary)
    }
  }
}
