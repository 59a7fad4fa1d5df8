import CLibc
import Core
import Records

/// Standard output, the state behind it, and the words about both: what a follower of this
/// machine and one of a host have in common.
final class TranscriptOutput {
  /// How a run ends before its time.
  enum End: Error {
    case signal(Int32)
    case writing(WriteFailure)
  }

  let diagnostics: Diagnostics
  /// Whether a person is told that the link is down and back.
  let speaks: Bool
  private let lifecycle: Bool
  private let writer = RecordWriter(interrupted: { EndSignals.hasPending })
  private var record = TranscriptRecord(isTerminal: isatty(1) == 1)
  private var state: TranscriptState?
  private var faults: FaultLog
  private var told: Set<FileKey> = []

  init(_ options: TranscriptOptions, state: TranscriptState?, _ diagnostics: Diagnostics) {
    self.state = state
    self.diagnostics = diagnostics
    lifecycle = options.lifecycle
    speaks = options.isVerbose || (isatty(2) == 1 && !options.isQuiet)
    faults = FaultLog(diagnostics)
  }

  /// Prints the lines that end in the bytes of a piece, and saves now and then.
  func print(
    _ bytes: UnsafeRawBufferPointer, of piece: FollowPlan.Piece, _ plan: inout FollowPlan
  ) throws {
    if isForeign(bytes, piece) {
      plan.leaveForeign()
    } else {
      let losses = try plan.append(bytes, known: { record.know($0) }) {
        line, file, begin, end throws(WriteFailure) in
        try print(line, of: file, from: begin, to: end)
      }
      try tell(losses)
    }
    // The next piece may be long in coming.
    try writer.flush()
    if state?.isDue == true { _ = try settle(plan) }
  }

  /// Prints a line, or says why not.
  private func print(
    _ line: LineCutter.Line, of file: FollowedFile, from begin: Int64, to end: Int64
  ) throws(WriteFailure) {
    switch line {
    case .whole(var bytes):
      let hasMark = begin == 0 && bytes.starts(with: [0xef, 0xbb, 0xbf])
      if hasMark { bytes = UnsafeRawBufferPointer(rebasing: bytes[3...]) }
      let fault = try record.write(
        bytes, session: file.session, begin: begin, end: end, to: writer)
      if let fault { faults.place(file.path, byte: begin, fault) }
    case .tooLong: faults.place(file.path, byte: begin, "the line is too long")
    }
  }

  /// Whether what a file begins with is no UTF-8, which is said once.
  private func isForeign(_ bytes: UnsafeRawBufferPointer, _ piece: FollowPlan.Piece) -> Bool {
    guard piece.offset == 0, let reason = ForeignText.reason(of: bytes) else { return false }
    fault(piece.path, reason)
    return true
  }

  /// A file or folder that cannot be read; each is named once.
  func fault(_ path: String, _ reason: String) {
    if told.insert(FileKey(path)).inserted { faults.file(path, reason) }
  }

  /// Tells that a file lost what it had.
  func tell(_ losses: [FollowPlan.Loss]) throws(WriteFailure) {
    for loss in losses {
      diagnostics.error(loss.path, "\(loss.reason): it is read from its beginning")
      let record = RecordText(.gap).string("path", FileName.shown(loss.path))
        .string("reason", loss.reason).number("from", loss.offset)
      try writer.write(record.time(.now()).line)
    }
  }

  /// Prints a record about the link, if they are wanted.
  func tell(_ record: RecordText) throws(WriteFailure) {
    if lifecycle { try writer.write(record.time(.now()).line) }
  }

  /// Writes all that is complete, then saves how far that is.
  ///
  /// - Returns: when to be called again at the latest.
  func settle(_ plan: FollowPlan, isLast: Bool = false) throws -> Double {
    try writer.flush()
    return try state?.save(plan.progress, isLast: isLast) ?? .infinity
  }

  /// Whether a signal came or the reader has gone.
  func check() throws(End) {
    if let signal = EndSignals.next() { throw .signal(signal) }
    if OutputEnd.isClosed { throw .writing(WriteFailure(code: EPIPE)) }
  }

  /// Ends the process for a signal, a closed pipe or a full disk; what was written out is
  /// saved first.
  func leave(_ end: End, _ plan: FollowPlan) -> Never {
    switch end {
    case .signal(let number):
      // A signal does not wait for a slow reader.
      if OutputEnd.isWritable {
        do {
          try tell(RecordText(.end).string("reason", "signal \(number)"))
          _ = try settle(plan, isLast: true)
        } catch {
          if let error = error as? Failure { diagnostics.say(error.message) }
        }
      }
      Process.die(by: number)
    case .writing(let failure):
      if failure.code == EINTR, let signal = EndSignals.next() { Process.die(by: signal) }
      diagnostics.fail(writing: failure)
    }
  }

  /// Says what was left unsaid.
  func finish(_ plan: FollowPlan) -> ExitStatus {
    faults.finish()
    if faults.hasFault { return .failure }
    return plan.isEmpty ? .negative : .success
  }
}
