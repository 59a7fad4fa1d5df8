import Agent
import Core
import Records

/// What is wrong with a line of the input, or what the server said of it.
private struct LineFault: Error {
  let reason: String
  let status: ExitStatus
  /// Whether it is what the server said: each such line is named, as many as there are.
  let isAnswer: Bool

  init(_ reason: String) { (self.reason, status, isAnswer) = (reason, .failure, false) }

  init(answer reason: String, _ status: ExitStatus = .failure) {
    (self.reason, self.status, isAnswer) = (reason, status, true)
  }
}

extension RecordRun {
  /// Reads and writes what the lines of standard input name, or the one record that is named.
  func readLines() throws -> ExitStatus {
    if options.verb == .create, let path = options.state, let collection = options.collection {
      book = try KeyBook(path: path, place: "\(records.account) \(collection)")
    }
    if let key = options.key {
      try one(key)
      try queue?.finish()
      return worst
    }
    defer { faults.finish() }
    var input = try RecordInput(path: "-", .lines)
    do {
      // Nothing waits for lines that are yet to come.
      while let line = try input.next(beforeBlocking: { _ in try writeBatch() }) {
        try attempt(line.number) { if let row = try result(line) { try output.write(row) } }
      }
      try writeBatch()
    } catch let failure as Failure {
      // What came of the lines before it counts, too.
      diagnostics.say(failure.message)
      worst = worst.worse(failure.status)
    }
    try queue?.finish()
    return worst
  }

  private func one(_ key: RecordKey) throws {
    guard let collection = options.collection else { return }
    let place = RecordPlace(collection, key)
    do {
      if options.verb == .delete { return try output.write(try delete(place, swap(nil))) }
      let text = try BoundedFile.text("-", limit: RecordDraft.largest)
      let draft = try text.withUnsafeBytes { try Self.draft($0, collection, created: nil) }
      try output.write(try put(draft, place, swap(nil)))
    } catch let fault as LineFault {
      worst = fault.status
      diagnostics.error(key.description, fault.reason)
    }
  }

  /// Says of a line what is wrong with it.
  private func attempt(_ number: Int, _ body: () throws -> Void) throws {
    do { try body() } catch let fault as LineFault {
      if fault.isAnswer {
        diagnostics.error("standard input:\(number)", fault.reason)
      } else {
        faults.line("-", number, fault.reason)
      }
      worst = worst.worse(fault.status)
    }
  }

  /// Writes the records that were read in one commit, or each by itself where that cannot be.
  private func writeBatch() throws {
    let lines = batch.take()
    if lines.isEmpty { return }
    let outcomes = try batch.write(lines, by: records, mayReplace: options.swap != .given(.absent))
    for (index, line) in lines.enumerated() {
      try attempt(line.number) {
        let outcome =
          try outcomes?[index]
          ?? records.put(line.draft, line.place.collection, line.place.key, swap: swap(nil))
        try output.write(try written(outcome, line.place, line.draft))
      }
    }
  }

  /// The row to print; nil for what is written with others.
  private func result(_ line: RecordInput.Line) throws -> [UInt8]? {
    if options.verb == .create { return try create(line.bytes) }
    let row = try Failure.rethrowing(try RecordRow(line.bytes)) { LineFault($0.reason) }
    guard let collection = row.collection ?? options.collection else {
      throw LineFault("a key alone, and no COLLECTION")
    }
    if let named = options.collection, named != collection {
      throw LineFault("a record of \(collection)")
    }
    if options.verb == .get {
      let repository = try row.repository ?? records.repository()
      let answer =
        if let queue, records.isOurs(row.repository) {
          try queue.get(RecordPlace(collection, row.key)).map(RecordAnswer.found) ?? .absent
        } else {
          try records.look(ATURI(repository, collection, row.key))
        }
      switch answer {
      case .found(let found):
        if records.isOurs(row.repository) {
          copies?.note(RecordPlace(collection, row.key), row: found)
        }
        return found
      case .absent: throw LineFault(answer: "no such record", .negative)
      case .refused(let reason): throw LineFault(answer: reason)
      }
    }
    let place = RecordPlace(collection, row.key, of: try owner(row.repository))
    if options.swap == .row, row.cid == nil { throw LineFault("no cid to compare with") }
    if options.verb == .delete { return try delete(place, swap(row.cid)) }
    guard let value = row.value else { throw LineFault("no value to put") }
    let draft = try value.withUnsafeBytes { try Self.draft($0, collection, created: nil) }
    // A commit of several has no CID to compare with for each.
    if queue == nil, [.given(.any), .given(.absent)].contains(options.swap) {
      if !batch.hasRoom(for: place, draft) { try writeBatch() }
      batch.add((place, draft, line.number))
      return nil
    }
    return try put(draft, place, swap(row.cid))
  }

  /// Whose a record is, if that is to be found out yet; nil for the account's own.
  private func owner(_ repository: Repository?) throws -> Repository? {
    guard let repository else { return nil }
    let owner: PDSRecords.Owner =
      if let queue { queue.owner(repository) } else {
        try records.owns(repository) ? .own : .others
      }
    switch owner {
    case .own: return nil
    case .others: throw LineFault("somebody else's record")
    case .unknown: return repository
    }
  }

  /// A record gets its key, and its time, here: so it can be sent twice and is there once.
  private func create(_ line: UnsafeRawBufferPointer) throws -> [UInt8] {
    guard let collection = options.collection else { throw LineFault("no COLLECTION") }
    let known = book?.known(for: line)
    let key = known ?? clock.next(now: Clock.unix)
    let draft = try Self.draft(line, collection, created: key.time)
    if known == nil { try book?.note(key, for: line) }
    let place = RecordPlace(collection, RecordKey(key))
    guard let queue else {
      return try written(try records.put(draft, collection, place.key, swap: .absent), place, draft)
    }
    let isSettled = book?.isSettled(key) == true
    let history = isSettled ? RecordQueue.History.kept : known == nil ? .new : .perhapsKept
    let outcome = try queue.write(.put(place, draft, base: .absent), history)
    // What was given up can be tried again.
    if outcome.status != .negative { try book?.settle(key, for: line) }
    return kept(outcome)
  }

  // MARK: - Writing

  private func put(
    _ draft: RecordDraft, _ place: RecordPlace, _ swap: RecordSwap
  ) throws -> [UInt8] {
    guard let queue else {
      return try written(
        try records.put(draft, place.collection, place.key, swap: swap), place, draft)
    }
    return kept(try queue.write(.put(place, draft, base: swap)))
  }

  private func delete(_ place: RecordPlace, _ swap: RecordSwap) throws -> [UInt8] {
    guard let queue else {
      return try written(try records.delete(place.collection, place.key, swap: swap), place, nil)
    }
    return kept(try queue.write(.delete(place, base: swap)))
  }

  private func kept(_ outcome: (row: [UInt8], status: ExitStatus)) -> [UInt8] {
    worst = worst.worse(outcome.status)
    return outcome.row
  }

  private static func draft(
    _ text: UnsafeRawBufferPointer, _ collection: NSID, created: Timestamp?
  ) throws -> RecordDraft {
    try Failure.rethrowing(try RecordDraft(text, for: collection, created: created)) {
      LineFault($0.reason)
    }
  }

  /// - Parameter cid: of the row; nil where there is none.
  private func swap(_ cid: CID?) -> RecordSwap {
    switch options.swap {
    // What is kept is made from something.
    case .given(let swap) where queue == nil || swap != .any: swap
    default: cid.map(RecordSwap.cid) ?? .any
    }
  }

  private func written(
    _ outcome: WriteOutcome, _ place: RecordPlace, _ draft: RecordDraft?
  ) throws -> [UInt8] {
    switch outcome {
    case .done(let row):
      if let draft { copies?.note(place, draft, row) } else { copies?.note(place, nil) }
      return row
    case .conflict(let reason):
      throw LineFault(answer: "nothing was written: \(reason)", .negative)
    case .altered(let reason): throw LineFault(answer: reason)
    case .refused(let reason, let status): throw LineFault(answer: reason, status)
    }
  }
}

/// Records that are written in one commit.
struct RecordBatch {
  /// A record, and the number of its line in the input.
  typealias Line = (place: RecordPlace, draft: RecordDraft, number: Int)

  /// The most that servers take in one commit.
  private static let most = 200
  /// What stands around a record in a request, bytes, beside its names.
  private static let around = 200

  private var lines: [Line] = []
  private var places: Set<RecordPlace> = []
  private var bytes = 0
  /// Whether the last commit was one of new records: the next one is probably, too.
  private var areNew = true

  /// Whether another record can come with those that are there.
  func hasRoom(for place: RecordPlace, _ draft: RecordDraft) -> Bool {
    lines.count < Self.most && !places.contains(place)
      && bytes + Self.size(place, draft) <= RecordDraft.largest
  }

  private static func size(_ place: RecordPlace, _ draft: RecordDraft) -> Int {
    draft.bytes.count + place.description.utf8.count + around
  }

  mutating func add(_ line: Line) {
    lines.append(line)
    places.insert(line.place)
    bytes += Self.size(line.place, line.draft)
  }

  mutating func take() -> [Line] {
    defer { (lines, places, bytes) = ([], [], 0) }
    return lines
  }

  /// What came of each; nil where each is to be written by itself, which does no harm if it was
  /// written already.
  mutating func write(
    _ lines: [Line], by records: PDSRecords, mayReplace: Bool
  ) throws(Failure) -> [WriteOutcome]? {
    guard lines.count > 1 else { return nil }
    let writes = lines.map { (place: $0.place, draft: $0.draft) }
    let kinds = mayReplace ? [areNew, !areNew] : [true]
    for kind in kinds {
      if let outcomes = try records.putAll(writes, areNew: kind) {
        areNew = kind
        return outcomes
      }
    }
    return nil
  }
}
