import Agent
import CLibc
import Core
import Prose
import Records
import Turns
import Web

/// reply-narrate(1): says what an agent answered.
public func replyNarrateMain() {
  NarrateOptions.table.run(NarrateOptions(), verbose: \.isVerbose) { options, diagnostics in
    if options.isServer { return try ServerLoop(options, diagnostics).run() }
    return try NarrateLoop(options, diagnostics).run()
  }
}

final class NarrateLoop {
  private let options: NarrateOptions
  private let diagnostics: Diagnostics
  private let narrator: Narrator
  private let writer = RecordWriter()
  private var turns: FinishedTurns
  private var faults: FaultLog
  private var latest: Narration?
  /// Where we write, if that is a file: reading it would not end.
  private let target = FileIdentity(descriptor: 1)

  init(_ options: NarrateOptions, _ diagnostics: Diagnostics) throws(Failure) {
    (self.options, self.diagnostics) = (options, diagnostics)
    narrator = try Narrator(options, diagnostics)
    turns = FinishedTurns(after: options.after?.timestamp(now: .now()))
    faults = FaultLog(diagnostics)
  }

  func run() throws -> ExitStatus {
    try RecordInput.each(
      options.files, writtenTo: target, until: { false }, fault: { faults.file($0, $1) },
      lines: { try readLines(of: &$0) })
    faults.finish()
    if let latest { try give(latest) }
    try writer.flush()
    while !narrator.isIdle { _ = narrator.turn() }
    narrator.endIfAsked()
    if faults.hasFault { return .failure }
    if options.isLatest, latest == nil { return .negative }
    return narrator.status
  }

  private func readLines(of input: inout RecordInput) throws {
    // What is kept in a file does not grow old while it is spoken.
    let isFile = input.isFile
    while let line = try input.next(beforeBlocking: { try wait(for: $0) }) {
      narrator.endIfAsked()
      try read(line.bytes, of: input.path, line.number)
      while isFile, !narrator.isIdle { _ = narrator.turn() }
    }
  }

  private func read(
    _ line: UnsafeRawBufferPointer, of file: String, _ number: Int
  ) throws(WriteFailure) {
    let narration: Narration?
    do throws(Failure) {
      narration = try turns.read(line)
    } catch {
      guard let torn = TornLine(line) else { return faults.line(file, number, error.reason) }
      for record in torn.records { try read(record, of: file, number) }
      if let fault = torn.fault { faults.line(file, number, fault.reason) }
      return
    }
    if let narration { try receive(narration) }
  }

  private func wait(for source: Int32) throws(WriteFailure) {
    try writer.flush()
    while !narrator.turn(input: source) {}
  }

  private func receive(_ narration: Narration) throws(WriteFailure) {
    if narration.text.isEmpty { return diagnostics.note("\(narration.id): nothing to say") }
    guard options.isLatest else { return try give(narration) }
    if let latest, let old = latest.time, let new = narration.time, new < old { return }
    latest = narration
  }

  private func give(_ narration: Narration) throws(WriteFailure) {
    let line = narration.line(options.form)
    guard let speaker = narrator.speaker else { return try writer.write(line) }
    speaker.add((narration.id, line))
  }
}

/// Finds in lines the turns that are finished, each once: in the records of turn-fold(1), and in
/// the transcript of Claude Code itself. Pure.
struct FinishedTurns {
  private let after: Timestamp?
  private var scan = RecordScan()
  /// The last messages of agents, by their places, and in their order.
  private var messages: [String: MessageRecord] = [:]
  private var order: [String] = []
  private var waiting: [String: TurnRecord] = [:]
  private var seen = RecentIDs<String>()

  /// The most messages and turns that are remembered: an answer stands right beside its turn.
  private static let most = 256

  init(after: Timestamp?) { self.after = after }

  /// Reads a line. Returns a turn that is finished and has not been told; nil for anything else.
  /// Its text is empty where nothing can be said.
  mutating func read(_ bytes: UnsafeRawBufferPointer) throws(Failure) -> Narration? {
    let line: TurnLine
    do throws(ScanFault) {
      line = try TurnLine(bytes, &scan)
    } catch {
      if error == .empty { return nil }
      throw Failure(error.reason)
    }
    if let answer = ClaudeAnswer(line) {
      return tell(
        Narration(
          origin: line.origin(.claude), id: answer.id, thread: answer.session, turn: nil,
          text: answer.text, time: answer.time))
    }
    guard line.shape == .own, ["turn", "message"].contains(line.type) else {
      if line.isTooDeep { throw Failure(TurnLine.tooDeep) }
      return nil
    }
    do throws(RecordFields.Fault) {
      switch try ConversationRecord(reading: bytes) {
      case .turn(let turn): return receive(turn)
      case .message(let message): return receive(message)
      default: return nil
      }
    } catch {
      // What a later version writes is passed over.
      if error.isNews { return nil }
      throw Failure(error.reason)
    }
  }

  private mutating func receive(_ turn: TurnRecord) -> Narration? {
    // A part of a turn, as a subagent is, is nobody's answer.
    guard turn.state == .completed, turn.parent == nil else { return nil }
    // A session that was left in its middle has no answer.
    if turn.message == nil, turn.origin.backend == .claude { return nil }
    let place = Self.place(turn.origin, turn.thread, turn.message ?? "turn \(turn.id)")
    guard let message = messages[place] else {
      if waiting.count >= Self.most { waiting = [:] }
      waiting[place] = turn
      return nil
    }
    return tell(turn, message)
  }

  private mutating func receive(_ message: MessageRecord) -> Narration? {
    guard message.role == .assistant, message.state == .final else { return nil }
    var places = [Self.place(message.origin, message.thread, message.id)]
    if let turn = message.turn {
      places.append(Self.place(message.origin, message.thread, "turn \(turn)"))
    }
    for place in places {
      if messages.updateValue(message, forKey: place) == nil { order.append(place) }
    }
    if order.count > 2 * Self.most {
      for place in order.prefix(Self.most) { messages[place] = nil }
      order.removeFirst(Self.most)
    }
    for place in places {
      if let turn = waiting.removeValue(forKey: place) { return tell(turn, message) }
    }
    return nil
  }

  private mutating func tell(_ turn: TurnRecord, _ message: MessageRecord) -> Narration? {
    tell(
      Narration(
        origin: turn.origin, id: message.id, thread: turn.thread, turn: turn.id,
        text: message.text, time: turn.ended ?? turn.time ?? message.time))
  }

  private mutating func tell(_ answer: Narration) -> Narration? {
    // The lines of Claude Code have ids of their own, which sessions that go on copy.
    let isCopied = answer.origin.backend == .claude
    let place = Self.place(
      RecordOrigin(answer.origin.backend, profile: isCopied ? nil : answer.origin.profile),
      isCopied ? "" : answer.thread, answer.id)
    if let after {
      guard let time = answer.time, time > after else { return nil }
    }
    guard seen.insert(place) else { return nil }
    var narration = answer
    narration.text = Prose.of(answer.text)
    return narration
  }

  private static func place(_ origin: RecordOrigin, _ thread: String, _ id: String) -> String {
    [origin.backend.rawValue, origin.profile ?? "", thread, id].joined(separator: "\n")
  }
}

struct Narration: Equatable {
  let origin: RecordOrigin
  /// The id of the answer, where it has one; else that of the turn.
  let id: String
  let thread: String
  /// The turn's id; nil where a line says only that one has ended.
  let turn: String?
  /// Prose, one line.
  var text: String
  let time: Timestamp?

  func line(_ form: NarrateOptions.Form) -> [UInt8] {
    switch form {
    case .text: Array(text.utf8) + [10]
    case .json:
      RecordText(.narration).string("backend", origin.backend.rawValue)
        .string("profile", origin.profile).string("id", id).string("thread", thread)
        .string("turn", turn).string("text", text).number("chars", text.count).time(time).line
    }
  }
}

final class ServerLoop {
  private let options: NarrateOptions
  private let diagnostics: Diagnostics
  private let agent: AgentAccess
  private let narration: RiffNarration
  private let narrator: Narrator
  /// Where audio is saved: what `--save` names, open.
  private let folder: Int32
  private let writer = RecordWriter()
  private var isLost = false
  private var hasFault = false
  private var skipped = ""

  /// With `--latest`, the most tries.
  private static let tries = 3

  init(_ options: NarrateOptions, _ diagnostics: Diagnostics) throws(Failure) {
    (self.options, self.diagnostics) = (options, diagnostics)
    agent = try AgentAccess(
      options.access, for: .narration, connectTimeout: 10, diagnostics: diagnostics)
    if let path = options.save {
      try Folders.make(path)
      folder = clibc_open_folder(path)
      guard folder >= 0 else { throw Failure(path, systemReason(systemError)) }
    } else {
      folder = -1
    }
    let now = Timestamp.now()
    // What ended before we came is old, unless it is asked for.
    let after = options.after?.timestamp(now: now) ?? (options.isLatest ? nil : now)
    narration = RiffNarration(
      agent, slug: try Self.slug(options),
      after: after.map { Double($0.seconds) + Double($0.nanoseconds) / 1e9 } ?? 0,
      diagnostics: diagnostics)
    narrator = try Narrator(options, client: agent.client, diagnostics)
  }

  private static func slug(_ options: NarrateOptions) throws(Failure) -> String? {
    guard let directory = options.directory else { return options.slug }
    guard let path = realpath(directory) else {
      throw Failure(directory, systemReason(systemError))
    }
    return RiffNarration.slug(of: path)
  }

  /// Goes on until a signal; with `--latest` until one turn was heard.
  func run() throws -> ExitStatus {
    var failures = 0
    while true {
      agent.client.perform()
      let now = Clock.monotonic
      switch try narration.work(now: now) {
      case .piece(let piece):
        tell(nil)
        try receive(piece)
        if options.isLatest { return finish() }
      case .nothing:
        tell(nil)
        if options.isLatest { return hasFault || !skipped.isEmpty ? .failure : .negative }
      case .skipped(let reason):
        tell(nil)
        failures += 1
        if reason == skipped { diagnostics.note(reason) } else { diagnostics.say(reason) }
        skipped = reason
        if options.isLatest, failures == Self.tries { return .failure }
      case .trouble(let reason, let status):
        failures += 1
        if options.isLatest, failures == Self.tries {
          diagnostics.say(reason)
          return status
        }
        tell(reason)
      case nil: break
      }
      _ = narrator.turn(until: max(narration.wakeUp(now: now), now))
    }
  }

  /// Says that the server is away, and that it is back, once each.
  private func tell(_ trouble: String?) {
    if let trouble {
      if isLost { diagnostics.note(trouble) } else { diagnostics.say(trouble) }
    } else if isLost {
      diagnostics.say("the server answers again")
    }
    isLost = trouble != nil
  }

  private func receive(_ piece: RiffNarration.Piece) throws {
    let name = "turn of \(NumberText.of(piece.time))"
    if let path = options.save, let file = save(piece, in: path) {
      // It is a name that is used next.
      try writer.write(Visible.line(file) + "\n")
      try writer.flush()
    }
    narrator.speaker?.add((name, piece.audio))
  }

  /// Saves a file that only the user can read; one that is there is left alone. It has its name
  /// when all of it is written.
  private func save(_ piece: RiffNarration.Piece, in path: String) -> String? {
    let name = NumberText.of(piece.time) + ".mp3"
    let file = Folders.join(path, name)
    let code = FolderFile.create(name, in: folder, with: piece.audio)
    if code == 0 { return file }
    hasFault = true
    diagnostics.error(file, systemReason(code))
    return nil
  }

  private func finish() -> ExitStatus {
    narration.stop()
    while !narrator.isIdle { _ = narrator.turn() }
    return hasFault ? .failure : narrator.status
  }
}
