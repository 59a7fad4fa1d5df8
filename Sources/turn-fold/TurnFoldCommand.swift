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
  private var sources: TurnSources
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
    sources = TurnSources(countsUnknown: options.isVerbose)
    output = FoldOutput(options)
    self.diagnostics = diagnostics
    faults = FaultLog(diagnostics)
  }

  mutating func run() throws -> ExitStatus {
    try RecordInput.each(
      options.files, writtenTo: target, until: { false }, fault: { faults.file($0, $1) },
      lines: { try readLines(of: &$0) })
    for event in sources.finish() { try receive(event) }
    if options.form == .state { try output.write(states: fold.states) }
    try output.flush()
    faults.finish()
    if let types = sources.unknown, !types.isEmpty {
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
    switch sources.read(line) {
    case .event(let event): try receive(event)
    case .events(let events): for index in events.indices { try receive(events[index]) }
    case .unknown: if options.form == .records { try output.pass(line) }
    case .other: break
    case .bad(let reason):
      guard let torn = TornLine(line) else { return faults.line(file, number, reason) }
      for record in torn.records { try receive(record, of: file, number) }
      if let fault = torn.fault { faults.line(file, number, fault.reason) }
    }
  }

  private mutating func pause() throws(WriteFailure) {
    for event in sources.pause() { try receive(event) }
    try output.flush()
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
