import Core
import Records
import Turns

/// turn-fold(1): what an agent's events come to.
public func turnFoldMain() {
  FoldOptions.table.run(FoldOptions()) { options, diagnostics in
    var run = FoldRun(options, diagnostics)
    // All that it knows need not be given back.
    Process.exit(try run.run())
  }
}

struct FoldRun {
  private let options: FoldOptions
  private let fold: TurnFold
  private var decoders = TurnDecoders()
  private var scan = RecordScan()
  private var events: [TurnEvent] = []
  /// How many lines of transcripts have a type that is unknown, by the type; nil where nobody asks.
  private var unknown: [String: Int]?
  private static let mostUnknown = 100
  private var output: FoldOutput
  private var faults: FaultLog
  private let diagnostics: Diagnostics
  private var changed: [any FoldedEntity] = []
  /// Where records are written, if that is a file: reading it would not end.
  private let target = FileIdentity(descriptor: 1)

  init(_ options: FoldOptions, _ diagnostics: Diagnostics) {
    self.options = options
    // Who asks for one conversation says whose the events are that name none.
    let thread = options.threads.count == 1 ? options.threads[0] : ""
    fold = TurnFold(keepsAll: options.form == .state, thread: thread)
    unknown = options.isVerbose ? [:] : nil
    output = FoldOutput(options)
    self.diagnostics = diagnostics
    faults = FaultLog(diagnostics)
  }

  mutating func run() throws -> ExitStatus {
    try RecordInput.each(
      options.files, writtenTo: target, until: { false }, fault: { faults.file($0, $1) },
      lines: { try readLines(of: &$0) })
    decoders.finish(into: &events)
    try receiveEvents()
    if options.form == .state { try output.write(states: fold.states) }
    try output.flush()
    faults.finish()
    if let types = unknown, !types.isEmpty {
      let words = types.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        .map { "\($0.value) \(Visible.masked($0.key))" }
      diagnostics.say("lines of unknown types: " + words.joined(separator: ", "))
    }
    if faults.hasFault { return .failure }
    return options.isSearch && !output.hasTold ? .negative : .success
  }

  private mutating func readLines(of input: inout RecordInput) throws {
    if let line = ClaudeTranscripts.originLine(ofSubagent: input.path) {
      try line.withUnsafeBytes { try receive($0, of: input.path, 0) }
    }
    while let line = try input.next(beforeBlocking: { _ in try pause() }) {
      try receive(line.bytes, of: input.path, line.number)
    }
  }

  private mutating func receive(
    _ line: UnsafeRawBufferPointer, of file: String, _ number: Int
  ) throws(WriteFailure) {
    if let event = decoders.event(plain: line) { return try receive(event) }
    let found: TurnLine
    do throws(ScanFault) { found = try TurnLine(line, &scan) } catch {
      return error == .empty ? () : try receive(bad: line, error.reason, of: file, number)
    }
    if found.shape == .own, try receive(own: found, of: file, number) { return }
    if unknown != nil, let type = ClaudeTurns.unknownType(found) { count(type) }
    _ = decoders.decode(found, into: &events)
    if events.isEmpty, found.isTooDeep {
      try receive(bad: line, TurnLine.tooDeep, of: file, number)
    }
    try receiveEvents()
  }

  private mutating func count(_ type: String) {
    guard let types = unknown else { return }
    let isFull = types.count >= Self.mostUnknown && types[type] == nil
    unknown?[isFull ? "others" : type, default: 0] += 1
  }

  /// Reads what is no record: perhaps it is one that was cut, with the next one behind it.
  private mutating func receive(
    bad line: UnsafeRawBufferPointer, _ reason: String, of file: String, _ number: Int
  ) throws(WriteFailure) {
    guard let torn = TornLine(line) else { return faults.line(file, number, reason) }
    for record in torn.records { try receive(record, of: file, number) }
    if let fault = torn.fault { faults.line(file, number, fault.reason) }
  }

  /// Reads a record of ours; false for what is none, or of a type that is nothing of turns.
  private mutating func receive(
    own line: TurnLine, of file: String, _ number: Int
  ) throws(WriteFailure) -> Bool {
    var record: ConversationRecord?
    do throws(RecordFields.Fault) {
      record = try ConversationRecord(reading: line.bytes)
      if record == nil { return false }
    } catch {
      if !error.isNews {
        try receive(bad: line.bytes, error.reason, of: file, number)
        return true
      }
    }
    // It is to be told again as it is.
    guard UTF8Text.isValid(line.bytes) else {
      try receive(bad: line.bytes, "not UTF-8", of: file, number)
      return true
    }
    guard let record else {
      // A later version made it: nothing is known of it.
      if options.form == .records { try output.pass(line.bytes) }
      return true
    }
    let change: TurnChange =
      switch record {
      case .thread(let thread): .setThread(thread)
      case .message(let message): .setMessage(message, text: .whole)
      case .turn(let turn): .setTurn(turn)
      case .toolCall(let call): .setToolCall(call)
      case .approval(let approval): .setApproval(approval)
      }
    var event = TurnEvent(
      record.record.origin, thread: record.thread ?? "", time: record.record.time, change)
    event.original = Array(line.bytes) + [10]
    try receive(event)
    return true
  }

  private mutating func pause() throws(WriteFailure) {
    decoders.pause(into: &events)
    try receiveEvents()
    try output.flush()
  }

  private mutating func receiveEvents() throws(WriteFailure) {
    for index in events.indices { try receive(events[index]) }
    events.removeAll(keepingCapacity: true)
  }

  private mutating func receive(_ event: TurnEvent) throws(WriteFailure) {
    if !options.threads.isEmpty, !event.thread.isEmpty, !options.threads.contains(event.thread) {
      return
    }
    changed.removeAll(keepingCapacity: true)
    fold.fold(event, into: &changed)
    if options.form == .records { try output.tell(changed) }
  }
}

/// Writes what changed, each whole.
struct FoldOutput {
  private let options: FoldOptions
  private let writer = RecordWriter()
  private let pen = RecordPen()
  private var pace = FoldPace()
  /// Of what is written once: a turn that has ended. How long it took may be told behind that.
  private var ended: (any FoldedEntity)?
  private(set) var hasTold = false

  init(_ options: FoldOptions) { self.options = options }

  mutating func tell(_ changed: [any FoldedEntity]) throws(WriteFailure) {
    for entity in changed where isWanted(entity) {
      if options.isFinal {
        if ended === entity { continue }
        try writeEnded()
        if entity.isEnded, entity.marks.toldSize == nil, !entity.marks.isWithdrawal {
          if case .turn = entity.entity { ended = entity } else { try write(entity) }
        }
        continue
      }
      // What was never told need not be taken back.
      if entity.marks.isWithdrawal, entity.marks.toldSize == nil { continue }
      if pace.isDue(entity) { try write(entity) }
    }
  }

  mutating func pass(_ line: UnsafeRawBufferPointer) throws(WriteFailure) {
    if options.isFinal || options.isSearch { return }
    try writer.writeLine(line)
  }

  mutating func write(states: [[UInt8]]) throws(WriteFailure) {
    for state in states {
      hasTold = true
      try writer.write(state)
      try writer.newline()
    }
  }

  /// Tells all that waits, before a read that may block and at the end.
  mutating func flush() throws(WriteFailure) {
    try writeEnded()
    for entity in pace.rest() { try write(entity) }
    try writer.flush()
  }

  private mutating func writeEnded() throws(WriteFailure) {
    guard let entity = ended else { return }
    ended = nil
    try write(entity)
  }

  private func isWanted(_ entity: any FoldedEntity) -> Bool {
    if !options.isSearch { return true }
    let place = entity.place
    let isOfThread =
      options.threads.isEmpty || place.thread.map(options.threads.contains) ?? false
    return isOfThread && (options.turns.isEmpty || place.turn.map(options.turns.contains) ?? false)
  }

  private mutating func write(_ entity: any FoldedEntity) throws(WriteFailure) {
    entity.write(with: pen)
    entity.marks.tell(size: entity.textSize)
    hasTold = true
    try pen.take { bytes throws(WriteFailure) in try writer.write(bytes) }
  }
}
