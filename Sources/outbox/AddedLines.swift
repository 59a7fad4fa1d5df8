import Agent
import Core
import Kinds
import Records
import Screen

struct AddedLines {
  private let file: OutboxFile
  private let output: RowOutput
  private let records: PDSRecords?
  private let copies: RecordCopies?
  private var faults: FaultLog
  private var changes: [OutboxChange] = []

  private static let most = 256

  init(
    _ options: OutboxOptions, _ file: OutboxFile, _ profile: Settings.Profile,
    _ output: RowOutput, _ diagnostics: Diagnostics
  ) throws(Failure) {
    (self.file, self.output) = (file, output)
    faults = FaultLog(diagnostics)
    guard profile.kind == .pds || profile.pds != nil else {
      (records, copies) = (nil, nil)
      return
    }
    let access = try PDSAccess(options.access, diagnostics: diagnostics)
    let records = PDSRecords(access, repository: nil, PDSLimits(), diagnostics)
    self.records = records
    copies = RecordCopies(profile: file.profile, account: records.account)
  }

  mutating func run() throws -> ExitStatus {
    var input = try RecordInput(path: "-", .lines)
    while let line = try input.next(beforeBlocking: { _ in try keep() }) {
      do throws(Failure) {
        changes.append(try change(line.bytes))
      } catch {
        faults.line("-", line.number, error.reason)
      }
      if changes.count == Self.most { try keep() }
    }
    try keep()
    faults.finish()
    return faults.hasFault ? .failure : .success
  }

  private mutating func keep() throws {
    if changes.isEmpty { return }
    let entries = try file.add { _ in changes.map { $0.made(from: copies) } }
    changes = []
    try output.write(entries.map { OutboxItem($0) }, of: file)
  }

  private func change(_ line: UnsafeRawBufferPointer) throws(Failure) -> OutboxChange {
    let member = { ScanMembers.text(of: $0, in: line) }
    if let (fault, offset) = ScanValidator.firstFault(line) {
      throw Failure("\(fault.reason) at byte \(offset)")
    }
    if member("op") != nil { return try OutboxChange(reading: line) }
    if member("type") == "message" {
      guard member("role") == "user" else { throw Failure("a message that is not the user's") }
      guard let text = member("text"), !text.isEmpty else {
        throw Failure("a message without text")
      }
      return .prompt(text: text, thread: member("thread"))
    }
    let row = try RecordRow(line)
    guard let collection = row.collection else {
      throw Failure("a key alone, and no collection")
    }
    guard let value = row.value else { throw Failure("neither op nor value") }
    var owner: Repository?
    if let repository = row.repository {
      switch records?.knownOwner(repository) {
      case .own: break
      case .unknown: owner = repository
      case .others, nil: throw Failure("somebody else's record")
      }
    }
    return try .put(
      RecordPlace(collection, row.key, of: owner), value,
      base: row.cid.map(RecordSwap.cid) ?? .any)
  }
}
