import CLibc
import Core
import Records
import Turns

/// What is asked of the server, by pds-record(1), which speaks in our name.
extension TaskRun {
  private func ask(
    _ words: [String], _ input: [UInt8] = []
  ) throws(Failure) -> (status: ExitStatus, lines: [String], faults: [String]) {
    let call = try ProgramCall(
      ["pds-record"] + (options.profile.map { ["-p", $0] } ?? [])
        + (options.isQueued ? ["--queue"] : []) + words,
      input: input, leadsGroup: false)
    ProgramCall.wait(for: [call])
    return (ExitStatus(rawValue: call.status) ?? .failure, call.lines, call.faults)
  }

  private func say(_ faults: [String]) { for fault in faults { diagnostics.say(fault) } }

  private mutating func items(of lines: [String]) throws -> [TaskItem] {
    var items: [TaskItem] = []
    for (index, line) in lines.enumerated() {
      do {
        try Array(line.utf8).withUnsafeBytes {
          items.append(try TaskItem(row: $0, profile: options.profile))
        }
      } catch let failure as Failure {
        faults.line(options.collection, index + 1, failure.reason)
      }
    }
    return items
  }

  /// The tasks of the collection; that there is none is no fault.
  private mutating func rows() throws -> (status: ExitStatus, items: [TaskItem]) {
    let found = try ask(["list", options.collection])
    say(found.faults)
    return (found.status == .negative ? .success : found.status, try items(of: found.lines))
  }

  mutating func list() throws -> ExitStatus {
    let (listed, items) = try rows()
    if listed != .success, items.isEmpty {
      if options.form == .line, listed == .temporary, !options.isQuiet {
        try writer.write("○ unreachable\n")
      }
      return listed
    }
    let status = try show(options.selection.tasks(of: items, now: now, zone: zone))
    if listed == .success, status == .negative, options.form == nil, !options.isQuiet,
      isatty(1) == 1
    {
      try writer.write("nothing to do\n")
    }
    return listed == .success ? status : listed
  }

  mutating func add() throws -> ExitStatus {
    var list = options.list
    if let name = list, !name.hasPrefix("at:") {
      // Looked up, so that no item belongs to none.
      let found = try ask(["get", options.lists, name])
      say(found.faults)
      if found.status == .negative { throw Failure(name, "no such list", .negative) }
      guard found.status == .success, let item = try items(of: found.lines).first else {
        return found.status
      }
      list = item.record.id
    }
    var records: [UInt8] = []
    if options.words.isEmpty || options.words == ["-"] {
      try words(of: list) { records += $0 }
    } else {
      // What is said on the command line is one line.
      let text = options.words.map(FileName.repaired).joined(separator: " ")
      if !text.allSatisfy(\.isWhitespace) {
        records = try Self.record(of: text, list, now: now, zone: zone)
      }
    }
    if records.isEmpty {
      if !faults.hasFault { throw Failure("no task") }
      return .failure
    }
    let made = try ask(["create", options.collection], records)
    say(made.faults)
    if options.isQuiet || made.lines.isEmpty { return made.status }
    // As the server has them; if it does not tell, what it said when they were written will do.
    let found = try get(made.lines)
    if found.status == .success {
      try tell(found.lines, "added: ")
      return made.status
    }
    say(found.faults)
    let errors = RecordWriter(descriptor: 2)
    for line in made.lines { try errors.write(line + "\n") }
    try errors.flush()
    return made.status == .success ? .failure : made.status
  }

  private func get(
    _ lines: [String]
  ) throws(Failure) -> (status: ExitStatus, lines: [String], faults: [String]) {
    try ask(["get", options.collection], lines.flatMap { Array($0.utf8) + [10] })
  }

  private mutating func tell(_ lines: [String], _ start: String) throws {
    let items = try items(of: lines)
    if options.form == nil, isatty(1) == 1 {
      try sentences(items, after: start)
    } else if !items.isEmpty {
      _ = try show(items)
    }
  }

  /// Tasks that are done by id are written back under the CID that was read, so that nothing is
  /// lost that somebody else wrote meanwhile; what changed in between is read again.
  mutating func markDone() throws -> ExitStatus {
    var status = ExitStatus.success
    var (written, refused): ([String], [String]) = ([], [])
    var changes = done([])
    for _ in 0..<5 {
      let (listed, items) = try rows()
      guard listed == .success else { return listed }
      changes = done(items)
      (status, refused) = (.success, [])
      if changes.rows.isEmpty { break }
      let put = try ask(["put", "--swap", "row", options.collection], changes.rows)
      written += put.lines
      status = put.status
      if status != .success { refused = put.faults.map { Self.named($0, changes.keys) } }
      if status != .negative { break }
    }
    say(refused + changes.faults)
    if !written.isEmpty, !options.isQuiet {
      try tell(get(written).lines, "done: ")
    } else if status == .success, isatty(1) == 1, !options.isQuiet, changes.faults.isEmpty {
      try writer.write("done already\n")
    }
    return status.rawValue < changes.status.rawValue ? changes.status : status
  }

  /// A fault of a line, with the key of its record.
  private static func named(_ fault: String, _ keys: [String]) -> String {
    let start = "standard input:"
    guard fault.hasPrefix(start) else { return fault }
    let rest = fault.dropFirst(start.count)
    let number = rest.prefix { $0 != ":" }
    guard let line = Int(number), keys.indices.contains(line - 1) else { return fault }
    return keys[line - 1] + rest.dropFirst(number.count)
  }
}
