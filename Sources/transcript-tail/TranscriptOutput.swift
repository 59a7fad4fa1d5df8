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

/// The file of `--state`: how far each transcript was printed. Written behind the output,
/// never ahead of it.
struct TranscriptState {
  let marks: [FileMark]?
  private let file: StateFile
  private let source: String
  private var saved: [FileMark]
  private var next = -Double.infinity

  init(path: String, source: String) throws(Failure) {
    file = StateFile(path: path)
    self.source = source
    guard let bytes = try file.read(limit: BoundedFile.largest), !bytes.isEmpty else {
      marks = nil
      saved = []
      return
    }
    guard let (found, list) = Self.parse(bytes) else {
      throw Failure(path, "not a state file of transcript-tail")
    }
    guard found == source else {
      throw Failure(path, "holds the state of \(found), not of \(source)")
    }
    marks = list
    saved = list
  }

  var isDue: Bool { Clock.monotonic >= next }

  /// Saves so often that it takes a tenth of the time at most; when to be called again.
  mutating func save(
    _ progress: @autoclosure () -> [FileMark], isLast: Bool = false
  ) throws(Failure) -> Double {
    let now = Clock.monotonic
    let progress = progress()
    if progress == saved {
      next = max(next, now + max(0.05, 9 * (Clock.monotonic - now)))
      return .infinity
    }
    if !isLast, now < next { return next }
    try file.replace(with: Self.record(source, progress))
    saved = progress
    let end = Clock.monotonic
    next = end + min(1, 9 * (end - now))
    return .infinity
  }

  static func record(_ source: String, _ marks: [FileMark]) -> [UInt8] {
    let files = marks.map { mark in
      RecordText().string("path", mark.path).string("file", String(mark.number))
        .number("born", mark.born == 0 ? nil : mark.born).number("line", mark.line?.begin)
        .string("digest", mark.line.map { String($0.digest, radix: 16) })
        .bool("skipped", mark.isSkipped ? true : nil).string("first", mark.first)
        .number("offset", mark.offset)
    }
    return RecordText(.transcriptState).string("source", source).objects("files", files).line
  }

  /// Nil when it is not a state file.
  static func parse(_ bytes: [UInt8]) -> (source: String, marks: [FileMark])? {
    guard let value = bytes.withUnsafeBytes({ try? JSONValue.parse($0) }),
      value["type"]?.string == RecordType.transcriptState.rawValue,
      let source = value["source"]?.string, let files = value["files"]
    else { return nil }
    var marks: [FileMark] = []
    for file in files.elements {
      guard let path = file["path"]?.string,
        let number = file["file"]?.string.flatMap({ UInt64($0) }),
        let offset = file["offset"]?.integer, offset >= 0
      else { return nil }
      let born = file["born"]?.integer ?? 0
      var mark = FileMark(path: path, number: number, born: born, offset: offset)
      if let begin = file["line"]?.integer, begin >= 0, begin < offset,
        let digest = file["digest"]?.string.flatMap({ UInt64($0, radix: 16) })
      {
        mark.line = LineMark(begin: begin, digest: digest)
      }
      mark.isSkipped = file["skipped"]?.bool == true
      mark.first = file["first"]?.string
      marks.append(mark)
    }
    return (source, marks)
  }
}
