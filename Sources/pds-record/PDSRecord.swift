import Agent
import CLibc
import Core
import Records
import Web

/// pds-record(1): records of one's own on a personal data server.
public func pdsRecordMain() {
  PDSOptions.table.run(PDSOptions(), verbose: \.follow.isVerbose, run)
}

private func run(_ options: PDSOptions, _ diagnostics: Diagnostics) throws -> ExitStatus {
  let access = try PDSAccess(
    options.access, tokenTime: options.tokenTime, diagnostics: diagnostics)
  let records = PDSRecords(
    access, repository: options.repository, options.limits, diagnostics)
  let output = RowWriter()
  let isOwn = options.repository.map { records.isOwn($0) } != false
  let copies = isOwn ? RecordCopies(of: access.profile, records) : nil
  let queue =
    options.isQueued && isOwn
    ? try RecordQueue(access.profile, records, copies, options, diagnostics) : nil
  switch options.verb {
  case .list: return try list(records, queue, copies, options, output, diagnostics)
  case .describe:
    guard let row = try records.describe() else { return none("repository", diagnostics) }
    try output.write(row)
    return .success
  case .login:
    try output.write(try records.logIn())
    return .success
  case .export where options.isCAR:
    guard let file = try records.file() else { return none("repository", diagnostics) }
    return try write(file)
  case .export:
    var faults = FaultLog(diagnostics)
    let isThere = try records.export(
      fault: { faults.event("export", $0) }, row: { try output.write($0) })
    faults.finish()
    if faults.hasFault { return .failure }
    return isThere ? .success : none("repository", diagnostics)
  case .blob:
    if let cid = options.blob {
      guard let blob = try records.blob(cid) else { return none("blob", diagnostics) }
      return try write(blob)
    }
    let blob = try BoundedFile.given("-", limit: largestBlob)
    try output.write(try records.putBlob(blob, type: options.blobType))
    return .success
  case .get where options.key != nil:
    guard let collection = options.collection, let key = options.key else { return .failure }
    let row =
      if let queue {
        try queue.get(RecordPlace(collection, key))
      } else {
        try read(ATURI(try records.repository(), collection, key), records, copies)
      }
    guard let row else { return none("record", diagnostics) }
    try output.write(row)
    return .success
  case .get, .create, .put, .delete:
    var lines = RecordLines(options, records, queue, copies, output, diagnostics)
    return try lines.run()
  case .watch:
    let stream = try access.stream(
      of: options.repository, options.watched, from: options.from.map(Int64.init),
      state: options.state.map { ResumeFile($0) }, options.limits, diagnostics)
    let output = EventOutput(receivedAt: options.follow.receivedAt)
    return Follow(options.follow, access.client, stream, output: output, diagnostics).run()
  }
}

/// The most that is read for a blob, bytes; servers take less.
private let largestBlob = 100 << 20

/// Writes bytes as they are, but not to a terminal.
private func write(_ bytes: [UInt8]) throws -> ExitStatus {
  if isatty(1) == 1 { throw Failure("standard output", "bytes do not go to a terminal") }
  let writer = RecordWriter()
  try writer.write(bytes)
  try writer.flush()
  return .success
}

private func read(_ uri: ATURI, _ records: PDSRecords, _ copies: RecordCopies?) throws -> [UInt8]? {
  let row = try records.get(uri)
  if let collection = uri.collection, let key = uri.key {
    copies?.note(RecordPlace(collection, key), row: row)
  }
  return row
}

private func list(
  _ records: PDSRecords, _ queue: RecordQueue?, _ copies: RecordCopies?, _ options: PDSOptions,
  _ output: RowWriter, _ diagnostics: Diagnostics
) throws -> ExitStatus {
  guard let collection = options.collection else { return .failure }
  var faults = FaultLog(diagnostics)
  var isEmpty = true
  let count = options.follow.count ?? .max
  let write = { (row: [UInt8]) in
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
    let receive = { (row: [UInt8]) in
      try write(row)
      if copies != nil { read.receive(row) }
    }
    try records.list(
      collection, isReversed: options.isReversed, count: count,
      fault: { faults.event("list", $0) }, row: receive)
    copies.map { read.keep(in: $0, of: collection, isWhole: read.count < count) }
  }
  faults.finish()
  if faults.hasFault { return .failure }
  return isEmpty && options.follow.count != 0 ? none("records", diagnostics) : .success
}

/// A script sees it by the status.
private func none(_ what: String, _ diagnostics: Diagnostics) -> ExitStatus {
  diagnostics.tellPerson("no such \(what)")
  return .negative
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
