import Archive
import CLibc
import Core
import Records

struct FilterRun {
  private let options: FilterOptions
  private let diagnostics: Diagnostics
  private var filter: LineFilter
  private var faults: FaultLog
  private var rejects: RejectFile?
  /// Nil where nothing is read by several threads.
  private let pieces: PieceRun?
  /// Where records are written, if that is a file: reading it would not end.
  private let target: FileIdentity?
  private let queue: InputQueue
  /// Nil where nobody asks what was spent.
  private var transcripts: TranscriptInput?

  init(
    _ options: FilterOptions, _ diagnostics: Diagnostics, to descriptor: Int32 = 1,
    pieceSize: Int = PieceSize.usual, copy: @escaping () -> FilterOptions?
  ) {
    (self.options, self.diagnostics) = (options, diagnostics)
    filter = LineFilter(options, to: RecordWriter(descriptor: descriptor))
    filter.output.onReuse = { profile in
      let words = "ids begin anew: these actions are of another database"
      diagnostics.say(profile.isEmpty ? words : "\(profile): \(words)")
    }
    faults = FaultLog(diagnostics)
    pieces = PieceRun(options, size: pieceSize, copy: copy)
    target = options.printsRecords ? FileIdentity(descriptor: descriptor) : nil
    transcripts = options.predicate.isUsage ? TranscriptInput(options) : nil
    queue = InputQueue(InputList.entries(options), writtenTo: target)
    if let path = options.rejects {
      rejects = Self.open(path, queue.entries.compactMap(\.path), diagnostics)
    }
  }

  /// Or leaves: there would be no place for the bad lines.
  private static func open(
    _ path: String, _ files: [String], _ diagnostics: Diagnostics
  ) -> RejectFile {
    do throws(WriteFailure) {
      let rejects = try RejectFile(path: path)
      if let own = rejects.identity {
        if files.contains(where: { FileIdentity(path: $0) == own }) {
          diagnostics.fail("\(path): is read and written at once")
        }
        if FileIdentity(descriptor: 1) == own {
          diagnostics.fail("\(path): is the standard output, too")
        }
      }
      try rejects.clear()
      return rejects
    } catch {
      diagnostics.fail("\(path): \(error.reason)")
    }
  }

  mutating func run() throws -> ExitStatus {
    let memory = CountMemory(options, queue.entries)
    var lock: LockFile?
    defer { lock?.release() }
    if let counts = memory.flatMap({ recall(from: $0, &lock) }) {
      try write(counts)
      return counts.hasSome ? .success : .negative
    }
    let isNameLost = filter.names != nil && !learnFromFiles()
    // With the names that were learned.
    let judge = FrameJudge(filter.options, queue.entries, isNameLost: isNameLost)
    while !filter.output.isDone, !queue.isEmpty {
      if let frames = FrameSource(queue, isWanted: judge.verdict) {
        try read(frames)
      } else if let input = queue.next(fault: { faults.file($0, $1) }) {
        try read(input)
      }
    }
    let notes =
      try transcripts?.finish { (line) throws(WriteFailure) in
        if filter.output.isDone { return }
        _ = try filter.handle(RecordInput.Line(line, number: 0, isTerminated: true, isFirst: false))
      } ?? []
    if let memory, !faults.hasFault {
      let (groups, hours) = try filter.output.counts()
      let counts = CountMemory.Counts(
        records: groups, times: hours, notes: notes, hasSome: filter.output.count > 0)
      if !filter.output.hasOpenGap { memory.keep(counts) }
      try write(counts)
    } else {
      for note in notes { diagnostics.say(note) }
      try Self.writeTimes(options.times) { (writer) throws(WriteFailure) in
        try filter.output.writeHours(to: writer)
      }
      try filter.output.finish()
    }
    keep { rejects throws(WriteFailure) in try rejects.finish() }
    faults.finish()
    if let time = options.grouping.time, filter.output.hasOpenGap {
      diagnostics.say("--by \(time.rawValue): a gap has too many empty \(time.rawValue)s to print")
    }
    if filter.output.count == 0 { filter.names?.finish() }
    tellNames()
    if options.output == .nothing && filter.output.count > 0 { return .success }
    if faults.hasFault { return .failure }
    return filter.output.count > 0 ? .success : .negative
  }

  /// What was counted when all was as it is now; or earlier, while another run counts.
  private func recall(from memory: CountMemory, _ lock: inout LockFile?) -> CountMemory.Counts? {
    if let counts = memory.recall() { return counts }
    if !options.isShared { return nil }
    do throws(Failure) { lock = try memory.lock() } catch {
      // Where there is no place for a lock, each counts for itself.
      return nil
    }
    return memory.recall(isExact: lock != nil)
  }

  private mutating func write(_ counts: CountMemory.Counts) throws(WriteFailure) {
    for note in counts.notes { diagnostics.say(note) }
    try Self.writeTimes(options.times) { (writer) throws(WriteFailure) in
      try writer.write(counts.times)
    }
    try filter.output.finish(with: counts.records)
  }

  private static func writeTimes(
    _ path: String?, _ write: (RecordWriter) throws(WriteFailure) -> Void
  ) throws(WriteFailure) {
    guard let path else { return }
    let file = clibc_create(path)
    guard file >= 0, ftruncate(file, 0) == 0 else { throw WriteFailure(code: systemError) }
    defer { close(file) }
    let writer = RecordWriter(descriptor: file)
    try write(writer)
    try writer.flush()
  }

  private mutating func read(_ file: InputQueue.Input) throws {
    do {
      if transcripts != nil, TranscriptInput.isTranscript(file.place) {
        var input = try RecordInput(path: file.place, writtenTo: target, .lines)
        try transcripts?.begin(file.path)
        defer { if let reason = transcripts?.end() { faults.file(file.path, reason) } }
        return try readLines(of: &input, file.path)
      }
      if let stream = StreamSource(file.place, named: file.path, writtenTo: target) {
        return try read(stream)
      }
      var input = try RecordInput(path: file.place, writtenTo: target)
      try read(&input, file.path)
    } catch let failure as Failure {
      faults.file(file.path, failure.reason)
    }
  }

  private mutating func read(_ source: any PieceSource) throws {
    if let pieces { _ = try read(source, by: pieces) } else { try readAlone(source) }
  }

  private mutating func readAlone(_ source: any PieceSource) throws {
    let slot = PieceSlot(size: PieceSize.usual)
    var before = 0
    while !filter.output.isDone {
      slot.clear(PieceSize.usual)
      do throws(Failure) {
        guard let piece = try source.next(slot.buffer) else { return }
        slot.piece = piece
        try piece.fill?(slot.buffer)
      } catch {
        slot.failure = error
      }
      if let first = slot.piece.firstLine { before = first - 1 }
      var lines = PieceLines(slot)
      if slot.piece.taken != nil {
        try merge(slot, behind: before)
      } else {
        try readLines(&lines, of: slot.piece.path, behind: before)
        sayFailure(slot)
      }
      before += lines.count
      if let failure = slot.failure, !slot.piece.isAlone { throw failure }
      // That of the next one, unless it says so.
      slot.piece.firstLine = nil
    }
  }

  private mutating func readLines(
    _ lines: inout PieceLines, of path: String, behind before: Int
  ) throws(WriteFailure) {
    while !filter.output.isDone, let line = filter.nextLine(&lines) {
      try handle(line.behind(before), of: path)
    }
  }

  private mutating func sayFailure(_ slot: PieceSlot) {
    if let failure = slot.failure, slot.piece.isAlone {
      faults.file(slot.piece.path, failure.reason)
    }
  }

  private mutating func read(_ input: inout RecordInput, _ path: String) throws {
    if let pieces, let unread = input.unread, let source = pieces.spans(of: unread, path) {
      let passed = try read(source, by: pieces)
      if !passed.isTerminated { return }
      // What was written behind the end since then.
      input.goOn(at: unread.range.lowerBound + Int64(passed.bytes), behind: passed.lines)
    }
    try readLines(of: &input, path)
  }

  private mutating func readLines(of input: inout RecordInput, _ path: String) throws {
    let prefilter = filter.prefilter
    while !filter.output.isDone, let line = try input.next(beforeBlocking: { _ in try flush() }) {
      if let prefilter, prefilter.find(line.bytes) == nil {
        input.skipLines(until: prefilter.find)
        continue
      }
      if try transcripts?.receive(line.bytes) == true { continue }
      try handle(line, of: path)
    }
  }

  /// Treats a line, and says what is bad in it.
  private mutating func handle(_ line: RecordInput.Line, of file: String) throws(WriteFailure) {
    if filter.names != nil && filter.learn(line.bytes) { tellNames() }
    if try filter.handle(line) { return }
    say(filter.faults, of: file, line.number)
    reject(line.whole, terminated: line.isTerminated)
  }

  private mutating func say(_ bad: LineFaults, of file: String, _ number: Int) {
    for reason in bad.reasons { faults.line(file, number, reason) }
    faults.lines(unnamed: bad.count - bad.reasons.count)
  }

  private mutating func reject(_ line: UnsafeRawBufferPointer, terminated: Bool) {
    keep { rejects throws(WriteFailure) in try rejects.add(line, terminated: terminated) }
  }

  /// Writes what is complete, before a read that may wait.
  private mutating func flush() throws(WriteFailure) {
    try filter.output.flush()
    keep { rejects throws(WriteFailure) in try rejects.flush() }
  }

  /// A failure of that file is said and hinders nothing else.
  private mutating func keep(_ action: (RejectFile) throws(WriteFailure) -> Void) {
    guard let rejects else { return }
    do throws(WriteFailure) { try action(rejects) } catch {
      faults.file(rejects.path, error.reason)
    }
  }

  /// Learns who has the names: of files beforehand, so that it does not matter where in
  /// them it is told. What cannot be read is said when it is read again. Returns whether all frames
  /// were read that tell a name.
  private mutating func learnFromFiles() -> Bool {
    var isWhole = true
    let queue = InputQueue(queue.entries, writtenTo: target)
    while !queue.isEmpty {
      if let frames = FrameSource(queue, isWanted: { $0.tellsNames ? .read : .skipped }) {
        if !learn(from: frames) { isWhole = false }
      } else if let place = queue.next(fault: { _, _ in })?.place {
        if place != "-", let stream = StreamSource(place, named: place, writtenTo: target) {
          _ = learn(from: stream)
        } else {
          NameScan.readLines(place) { if filter.learn($0) { tellNames() } }
        }
      }
    }
    return isWhole
  }

  /// Whether all of it was read.
  private mutating func learn(from source: any PieceSource) -> Bool {
    let slot = PieceSlot(size: PieceSize.usual)
    var isWhole = true
    do throws(Failure) {
      while let piece = try source.next(slot.buffer) {
        slot.piece = piece
        do throws(Failure) { try piece.fill?(slot.buffer) } catch { isWhole = false }
        var lines = PieceLines(slot)
        while let line = lines.next() { if filter.learn(line.bytes) { tellNames() } }
        slot.clear(PieceSize.usual)
      }
    } catch {
      return false
    }
    return isWhole
  }

  private mutating func tellNames() {
    guard options.output != .nothing else { return }
    for note in filter.names?.takeNotes() ?? [] { diagnostics.error(note.what, note.reason) }
  }
}

// MARK: - Pieces

extension FilterRun {
  struct Passed {
    var bytes = 0
    var lines = 0
    var isTerminated = true
  }

  /// Lets threads read the pieces of a source, and puts together what they bring, in order:
  /// what is written and said is what reading the lines one by one would give.
  mutating func read(_ source: any PieceSource, by pieces: PieceRun) throws -> Passed {
    var passed = Passed()
    try pieces.engine.run(source) { slot in
      if let first = slot.piece.firstLine { passed.lines = first - 1 }
      try merge(slot, behind: passed.lines)
      passed.bytes += slot.buffer.lines.count
      passed.lines += slot.result.lines
      if let last = slot.buffer.bytes.last { passed.isTerminated = last == 10 }
      return !filter.output.isDone
    }
    return passed
  }

  private mutating func merge(_ slot: PieceSlot, behind before: Int) throws(WriteFailure) {
    let result = slot.result
    let path = slot.piece.path
    defer { sayFailure(slot) }
    if let count = slot.piece.taken {
      if slot.failure == nil { try filter.output.add(count, slot.buffer.bytes) }
      return
    }
    var lines = PieceLines(slot)
    // Where enough was found, only reading line by line tells what comes before the last.
    if !result.isCandidates && filter.output.isEnough(result.count) {
      return try readLines(&lines, of: path, behind: before)
    }
    for found in result.candidates {
      var found = lines.part(found.lines, from: found.first)
      while !filter.output.isDone, let line = found.next() {
        try handle(line.behind(before), of: path)
      }
    }
    for bad in result.bad {
      say(bad.faults, of: path, before + bad.number)
      let line = lines.line(at: bad.line, number: bad.number)
      reject(line.whole, terminated: line.isTerminated)
    }
    faults.lines(unnamed: result.unnamed)
    if !result.isCandidates { try filter.output.add(result) }
  }
}
