import Agent
import CLibc
import Core
import Records
import Web

/// pds-record(1): records of one's own on a personal data server.
public func pdsRecordMain() {
  PDSOptions.table.run(PDSOptions(), verbose: \.follow.isVerbose) { options, diagnostics in
    try RecordRun(options, diagnostics).run()
  }
}

final class RecordRun {
  let options: PDSOptions
  let diagnostics: Diagnostics
  private let access: PDSAccess
  let records: PDSRecords
  /// Of one's own records; nil for somebody else's, and without a profile.
  let copies: RecordCopies?
  /// Nil without `--queue`.
  let queue: RecordQueue?
  let output = RowWriter()
  var faults: FaultLog
  var worst = ExitStatus.success
  var clock = TIDClock(clock: Int.random(in: 0..<1024))
  var book: KeyBook?
  var batch = RecordBatch()
  /// The most that is read for a blob, bytes; servers take less.
  private static let largestBlob = 100 << 20

  init(_ options: PDSOptions, _ diagnostics: Diagnostics) throws(Failure) {
    (self.options, self.diagnostics) = (options, diagnostics)
    faults = FaultLog(diagnostics)
    access = try PDSAccess(options.access, tokenTime: options.tokenTime, diagnostics: diagnostics)
    records = PDSRecords(access, repository: options.repository, options.limits, diagnostics)
    guard records.isOurs(options.repository) else {
      (copies, queue) = (nil, nil)
      return
    }
    copies = RecordCopies(of: access.profile, records)
    queue =
      options.isQueued
      ? try RecordQueue(access.profile, records, copies, options, diagnostics) : nil
  }

  func run() throws -> ExitStatus {
    switch options.verb {
    case .list: return try list()
    case .describe: return try write(try records.describe(), "repository")
    case .login:
      try output.write(try records.logIn())
      return .success
    case .export where options.isCAR:
      guard let file = try records.file() else { return none("repository") }
      return try write(whole: file)
    case .export:
      let isThere = try records.export(
        fault: { faults.event("export", $0) }, row: { try output.write($0) })
      faults.finish()
      if faults.hasFault { return .failure }
      return isThere ? .success : none("repository")
    case .blob:
      if let cid = options.blob {
        guard let blob = try records.blob(cid) else { return none("blob") }
        return try write(whole: blob)
      }
      let blob = try BoundedFile.given("-", limit: Self.largestBlob)
      try output.write(try records.putBlob(blob, type: options.blobType))
      return .success
    case .get where options.key != nil:
      guard let collection = options.collection, let key = options.key else { return .failure }
      let place = RecordPlace(collection, key)
      if let queue { return try write(try queue.get(place), "record") }
      let row = try records.get(ATURI(try records.repository(), collection, key))
      copies?.note(place, row: row)
      return try write(row, "record")
    case .get, .create, .put, .delete: return try readLines()
    case .watch:
      let stream = try access.stream(
        of: options.repository, options.watched, from: options.from.map(Int64.init),
        state: options.state.map { ResumeFile($0) }, options.limits, diagnostics)
      let output = EventOutput(receivedAt: options.follow.receivedAt)
      return Follow(options.follow, access.client, stream, output: output, diagnostics).run()
    }
  }

  /// Writes a row, or says to a person that there is no such thing.
  private func write(_ row: [UInt8]?, _ what: String) throws -> ExitStatus {
    guard let row else { return none(what) }
    try output.write(row)
    return .success
  }

  /// Writes bytes as they are, but not to a terminal.
  private func write(whole bytes: [UInt8]) throws -> ExitStatus {
    if isatty(1) == 1 { throw Failure("standard output", "bytes do not go to a terminal") }
    let writer = RecordWriter()
    try writer.write(bytes)
    try writer.flush()
    return .success
  }

  private func list() throws -> ExitStatus {
    guard let collection = options.collection else { return .failure }
    var isEmpty = true
    let count = options.follow.count ?? .max
    let write = { [output] (row: [UInt8]) in
      isEmpty = false
      try output.write(row)
    }
    if let queue {
      let rows = try queue.list(
        collection, isReversed: options.isReversed, count: count
      ) { faults.event("list", $0) }
      for row in rows { try write(row) }
    } else {
      var read = ListedCopies(.now())
      try records.list(
        collection, isReversed: options.isReversed, count: count,
        fault: { faults.event("list", $0) },
        row: {
          try write($0)
          if copies != nil { read.receive($0) }
        })
      copies.map { read.keep(in: $0, of: collection, isWhole: read.count < count) }
    }
    faults.finish()
    if faults.hasFault { return .failure }
    return isEmpty && options.follow.count != 0 ? none("records") : .success
  }

  /// A script sees it by the status.
  private func none(_ what: String) -> ExitStatus {
    diagnostics.tellPerson("no such \(what)")
    return .negative
  }
}

extension PDSRecords {
  /// Whether a repository is that of the account, as it is where none is named.
  func isOurs(_ repository: Repository?) -> Bool { repository.map { isOwn($0) } ?? true }
}

final class RowWriter {
  private let writer = RecordWriter()
  private let isTerminal = isatty(1) == 1

  func write(_ row: [UInt8]) throws(WriteFailure) {
    try writer.write(json: row, isTerminal: isTerminal)
    try writer.flush()
  }
}

struct ListedCopies {
  /// Longer lists are not kept: who has so many records changes few of them by hand.
  private static let mostBytes = 64 << 20

  private(set) var count = 0
  private let start: Timestamp
  private var rows: [RecordKey: CopiedRecord] = [:]
  private var bytes = 0

  init(_ start: Timestamp) { self.start = start }

  mutating func receive(_ row: [UInt8]) {
    count += 1
    bytes += row.count
    guard bytes <= Self.mostBytes else {
      rows = [:]
      return
    }
    guard let name = try? row.withUnsafeBytes({ try RecordRow($0) }) else { return }
    rows[name.key] = CopiedRecord(row: row, time: start)
  }

  /// Keeps them.
  func keep(in copies: RecordCopies, of collection: NSID, isWhole: Bool) {
    guard bytes <= Self.mostBytes else { return }
    copies.keep(rows, of: collection, since: start, isWhole: isWhole)
  }
}
