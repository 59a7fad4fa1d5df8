import CLibc
import Core
import Records

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
    narrator = try Narrator(options, newestWins: true, diagnostics)
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
    speaker.add(Speaker.Item(name: narration.id, bytes: line))
  }
}
