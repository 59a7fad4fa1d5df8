import CLibc
import Core
import Records
import Turns

/// Standard output, the state behind it, and the words about both: what a follower of this
/// machine and one of a host have in common.
final class TranscriptOutput {
  let diagnostics: Diagnostics
  let speaks: Bool
  private let options: TranscriptOptions
  private let writer = RecordWriter(interrupted: { EndSignals.hasPending })
  private var record = TranscriptRecord(isTerminal: isatty(1) == 1)
  private var state: TranscriptState?
  private var faults: FaultLog
  private var told: Set<FileKey> = []

  init(_ options: TranscriptOptions, state: TranscriptState?, _ diagnostics: Diagnostics) {
    (self.options, self.state, self.diagnostics) = (options, state, diagnostics)
    speaks = options.isVerbose || (isatty(2) == 1 && !options.isQuiet)
    faults = FaultLog(diagnostics)
  }

  func print(
    _ line: LineCutter.Line, of file: FollowedFile, _ begin: Int64, _ end: Int64
  ) throws(WriteFailure) {
    switch line {
    case .whole(var bytes):
      let hasMark = begin == 0 && bytes.starts(with: [0xef, 0xbb, 0xbf])
      if hasMark { bytes = UnsafeRawBufferPointer(rebasing: bytes[3...]) }
      let fault = try record.write(bytes, session: file.session, begin: begin, end: end, to: writer)
      if let fault, !options.isLenient { faults.place(file.path, byte: begin, fault) }
    case .tooLong: faults.place(file.path, byte: begin, "the line is too long")
    }
  }

  /// Prints what is said of who made a subagent, in front of its lines.
  ///
  /// - Returns: false where that is no object of JSON.
  func print(
    origin bytes: UnsafeRawBufferPointer, of file: FollowedFile
  ) throws(WriteFailure) -> Bool {
    guard (try? ClaudeTranscripts.names(of: bytes)) != nil else { return false }
    // In a string there is no line feed.
    var line = ByteBuffer()
    for byte in bytes { line.append(byte == 10 ? 32 : byte) }
    return try record.write(
      line.bytes, event: ClaudeTranscripts.originEvent, session: file.session, begin: 0, end: 0,
      to: writer) == nil
  }

  /// Takes it that a line was printed by an earlier run.
  func know(_ line: UnsafeRawBufferPointer) { record.know(line) }

  /// Whether what a file begins with is no UTF-8, which is said once.
  func isForeign(_ bytes: UnsafeRawBufferPointer, _ piece: FollowPlan.Piece) -> Bool {
    guard piece.offset == 0, let reason = ForeignText.reason(of: bytes) else { return false }
    fault(piece.path, reason)
    return true
  }

  /// A file or folder that cannot be read; each is named once.
  func fault(_ path: String, _ reason: String) {
    if told.insert(FileKey(path)).inserted { faults.file(path, reason) }
  }

  func tell(_ losses: [FollowPlan.Loss]) throws(WriteFailure) {
    for loss in losses {
      diagnostics.error(loss.path, "\(loss.reason): it is read from its beginning")
      let record = RecordText(.gap).string("path", FileName.shown(loss.path))
        .string("reason", loss.reason).number("from", loss.offset)
      try writer.write(record.time(.now()).line)
    }
  }

  func tell(_ record: RecordText) throws(WriteFailure) {
    if options.lifecycle { try writer.write(record.time(.now()).line) }
  }

  /// Writes all that is complete, then saves how far; when to be called again at the latest.
  func settle(_ plan: FollowPlan, isLast: Bool = false) throws -> Double {
    try writer.flush()
    return try state?.save(plan.progress, isLast: isLast) ?? .infinity
  }

  /// The same in the middle of what is to be read: writes all that is complete, for the next
  /// piece may be long in coming, and saves now and then.
  func settleSome(_ plan: FollowPlan) throws {
    try writer.flush()
    if state?.isDue == true { _ = try settle(plan) }
  }

  /// Ends the process where a signal came or the reader has gone; what was written out is saved
  /// first.
  func check(_ plan: FollowPlan) {
    if let signal = EndSignals.next() { leave(by: signal, plan) }
    if OutputEnd.isClosed { leave(WriteFailure(code: EPIPE)) }
  }

  /// Ends the process for a closed pipe or a full disk.
  func leave(_ failure: WriteFailure) -> Never {
    if failure.code == EINTR, let signal = EndSignals.next() { Process.die(by: signal) }
    diagnostics.fail(writing: failure)
  }

  private func leave(by signal: Int32, _ plan: FollowPlan) -> Never {
    // A signal does not wait for a slow reader.
    if OutputEnd.isWritable {
      do {
        try tell(RecordText(.end).string("reason", "signal \(signal)"))
        _ = try settle(plan, isLast: true)
      } catch {
        if let error = error as? Failure { diagnostics.say(error.message) }
      }
    }
    Process.die(by: signal)
  }

  func finish(_ plan: FollowPlan) -> ExitStatus {
    faults.finish()
    if faults.hasFault { return .failure }
    return plan.isEmpty ? .negative : .success
  }
}

/// Turns lines of a transcript into records: `{"event":...,"id":...,"data":...}` on one line
/// (agentutils-records(5)).
struct TranscriptRecord: ~Copyable {
  /// The output is a terminal: what it would obey is escaped inside strings.
  let isTerminal: Bool
  private var text = ByteBuffer()
  /// The lines that were written: a session that is resumed begins with a copy of them, and a
  /// file that is replaced has them again.
  private var seen = SeenIDs()

  init(isTerminal: Bool) { self.isTerminal = isTerminal }

  /// What is wrong with the line, or a part of it.
  ///
  /// - Parameters:
  ///   - event: what it is called; nil for its type.
  ///   - end: its end in its file, a resume point.
  mutating func write(
    _ line: UnsafeRawBufferPointer, event: String? = nil, session: String, begin: Int64,
    end: Int64, to writer: RecordWriter
  ) throws(WriteFailure) -> String? {
    let names: (type: String?, id: String?)
    do throws(ScanFault) {
      names = try ClaudeTranscripts.names(of: line)
    } catch {
      if error == .empty { return nil }
      guard let torn = TornLine(line) else { return error.reason }
      for (index, part) in torn.records.enumerated() {
        let start = part.baseAddress.flatMap { part in line.baseAddress.map { part - $0 } } ?? 0
        let isLast = index == torn.records.count - 1
        let behind = isLast ? end : begin + Int64(start + part.count)
        _ = try write(part, session: session, begin: begin, end: behind, to: writer)
      }
      return torn.fault?.reason
    }
    if let id = names.id, !id.isEmpty, !seen.insert(id) { return nil }
    text.removeAll(keepingAtMost: 1 << 20)
    text.append("{\"event\":")
    let type = event ?? names.type ?? ""
    JSONQuote.append(type.isEmpty ? "message" : type, to: &text)
    text.append(",\"id\":")
    JSONQuote.append("\(session)/\(end)", to: &text)
    text.append(",\"data\":")
    let data = UnsafeRawBufferPointer(rebasing: line.trimming { $0 == 32 || $0 == 9 || $0 == 13 })
    if UTF8Text.isValid(data) {
      try add(data, to: writer)
    } else {
      try UTF8Text.repaired(data).withUnsafeBufferPointer { bytes throws(WriteFailure) in
        try add(UnsafeRawBufferPointer(bytes), to: writer)
      }
    }
    try writer.write("}\n")
    return nil
  }

  mutating func know(_ line: UnsafeRawBufferPointer) {
    let torn = TornLine(line)?.records ?? [line]
    for part in torn {
      if let id = ClaudeTranscripts.id(of: part) { _ = seen.insert(id) }
    }
  }

  private mutating func add(
    _ data: UnsafeRawBufferPointer, to writer: RecordWriter
  ) throws(WriteFailure) {
    if isTerminal { JSONQuote.appendVisible(json: data, to: &text) }
    try writer.write(text.bytes)
    if !isTerminal { try writer.write(data) }
  }
}
