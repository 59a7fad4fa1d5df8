import CLibc
import Core
import Records

/// mail-triage(1): what comes in, by urgency.
public func mailTriageMain() {
  TriageOptions.table.run(TriageOptions()) { options, diagnostics in
    let rules = try rules(options, diagnostics)
    EndSignals.watch()
    guard let path = options.state else {
      return try TriageLoop(options, rules, try ToldItems(nil), diagnostics).run()
    }
    return try FileLock.hold(beside: path, seconds: 0, busy: .temporary) {
      () throws(Failure) in
      let told = try ToldItems(path)
      return Result { try TriageLoop(options, rules, told, diagnostics).run() }
    }.get()
  }
}

private func rules(
  _ options: TriageOptions, _ diagnostics: Diagnostics
) throws(Failure) -> RuleBook {
  let path = options.rules ?? Folders.join(Folders().config, "triage")
  if options.rules == nil, stat(following: path) == nil { return RuleBook() }
  let bytes = try BoundedFile.text(path, limit: RuleBook.limit)
  let book = RuleBook(String(decoding: bytes, as: UTF8.self))
  if book.faults.isEmpty { return book }
  for fault in book.faults { diagnostics.fault(file: path, line: fault.line, fault.reason) }
  Process.exit(.failure)
}

final class TriageLoop {
  private let options: TriageOptions
  private let rules: RuleBook
  private let command: CommandRun?
  private let diagnostics: Diagnostics
  private let writer = RecordWriter(interrupted: { EndSignals.hasPending })
  private var told: ToldItems
  private var faults: FaultLog
  private var count = 0
  private var maildirs: [Maildir] = []

  /// All is looked at so often when nothing hints at a change, seconds.
  private static let rescan = 30.0

  init(_ options: TriageOptions, _ rules: RuleBook, _ told: ToldItems, _ diagnostics: Diagnostics) {
    (self.options, self.rules, self.told, self.diagnostics) = (options, rules, told, diagnostics)
    command = options.command.map {
      CommandRun(["/bin/sh", "-c", $0], limit: 64 << 10, timeout: options.timeout)
    }
    faults = FaultLog(diagnostics)
  }

  private var isDone: Bool { count >= options.most }

  /// Goes on until all is read, or a signal comes, which ends the process.
  func run() throws -> ExitStatus {
    do {
      for place in options.places where !isDone {
        if place != "-", stat(following: place)?.isFolder == true {
          try open(maildir: place)
        } else if options.isFollowing {
          throw UsageError("\(place): --follow is for maildirs")
        } else {
          try read(file: place)
        }
      }
      if options.isFollowing { try follow() }
      try settle(isLast: true)
    } catch let failure as WriteFailure {
      try told.save(isLast: true)
      if failure.code == EINTR, let signal = EndSignals.next() { Process.die(by: signal) }
      diagnostics.fail(writing: failure)
    }
    faults.finish()
    return faults.hasFault ? .failure : .success
  }

  private func open(maildir path: String) throws {
    guard let maildir = Maildir(path) else {
      return faults.file(path, "not a maildir: it has no folders new and cur")
    }
    maildirs.append(maildir)
    try look(at: maildir)
  }

  /// Tells what is new. A mail that is moved meanwhile is looked for once more.
  private func look(at maildir: Maildir) throws {
    for _ in 0..<3 {
      var wasMoved = false
      do {
        for path in try maildir.unseen() where !isDone {
          if try !read(mail: path) {
            maildir.giveBack(path)
            wasMoved = true
          }
        }
      } catch let failure as Failure {
        return faults.file(maildir.path, failure.reason)
      }
      if !wasMoved { return }
    }
  }

  private func follow() throws {
    let hint = clibc_changes()
    for maildir in maildirs {
      for folder in maildir.watched { clibc_changes_add(hint, folder) }
    }
    while !isDone, !maildirs.isEmpty {
      // What came before the watch began is found now.
      if hint >= 0 { clibc_folder_drain(hint) }
      for maildir in maildirs { try look(at: maildir) }
      if isDone { return }
      try settle(isLast: true)
      var entries = [hint, EndSignals.descriptor, 1].map {
        pollfd(fd: $0, events: Int16($0 == 1 ? 0 : POLLIN), revents: 0)
      }
      _ = poll(&entries, 3, Int32((hint >= 0 ? Self.rescan : 1) * 1000))
      try check()
      if OutputEnd.isClosed { throw WriteFailure(code: EPIPE) }
    }
  }

  /// False for a file that is gone.
  private func read(mail path: String) throws -> Bool {
    let file = clibc_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
    guard file >= 0 else {
      if systemError == ENOENT { return false }
      faults.file(path, systemReason(systemError))
      return true
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.isRegular else {
      faults.file(path, "not a regular file")
      return true
    }
    var bytes = [UInt8](repeating: 0, count: min(Int(status.st_size), Item.mostOfMail))
    var end = 0
    while end < bytes.count {
      let found = bytes.withUnsafeMutableBytes {
        CLibc.read(file, $0.baseAddress.map { $0 + end }, $0.count - end)
      }
      if found < 0, systemError == EINTR { continue }
      if found <= 0 { break }
      end += found
    }
    try bytes[..<end].withUnsafeBytes { try receive(mail: $0, isQuoted: false, path) }
    return true
  }

  private func read(file path: String) throws {
    let file = path == "-" ? 0 : clibc_open(path, O_RDONLY | O_NOCTTY)
    guard file >= 0 else {
      if systemError == EINTR { try check() }
      return faults.file(path, systemReason(systemError))
    }
    defer { if file > 0 { close(file) } }
    if let target = FileIdentity(descriptor: 1), FileIdentity(descriptor: file) == target {
      return faults.file(path, "is read and written at once")
    }
    let pieces = InputPieces(file) { [self] in
      try settle(isLast: false)
      var entries = [file, EndSignals.descriptor].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      _ = poll(&entries, 2, -1)
      try check()
    }
    do {
      try pieces.read { part, number in
        switch part {
        case .mail(let bytes, let isQuoted):
          try receive(
            mail: bytes, isQuoted: isQuoted, number > 1 ? "\(path): mail \(number)" : path)
        case .record(let line): try receive(record: line, path, number)
        }
        return !isDone
      }
    } catch let failure as Failure {
      faults.file(path, failure.reason)
    }
  }

  private func receive(mail bytes: UnsafeRawBufferPointer, isQuoted: Bool, _ name: String) throws {
    let found: (item: Item, fault: String?)
    do throws(Failure) {
      found = try Item.read(mail: bytes, isQuoted: isQuoted, own: options.own)
    } catch {
      return faults.file(name, error.reason)
    }
    if let fault = found.fault { faults.file(name, fault) }
    try tell(found.item)
  }

  private func receive(record line: UnsafeRawBufferPointer?, _ path: String, _ number: Int) throws {
    guard let line else {
      return faults.line(path, number, "longer than \(InputPieces.longestRecord) bytes")
    }
    let found: Item?
    do throws(Failure) {
      found = try Item.read(record: line)
    } catch {
      guard let torn = TornLine(line) else { return faults.line(path, number, error.reason) }
      for part in torn.records { try receive(record: part, path, number) }
      if let fault = torn.fault { faults.line(path, number, fault.reason) }
      return
    }
    if let found { try tell(found) }
  }

  private func tell(_ item: Item) throws {
    guard told.isNew(item) else { return }
    try check()
    var verdict = rules.judge(item)
    if let command {
      // It may take long: what is there is not kept back.
      try settle(isLast: false)
      do throws(CommandRun.Failure) {
        let answer = try command.output(input: item.record(verdict))
        guard let urgency = Self.urgency(in: answer) else { throw .broken("printed no urgency") }
        verdict.urgency = urgency
      } catch {
        if case .interrupted(let signal) = error { try leave(by: signal) }
        faults.file("--exec: \(item.kind)/\(item.id)", error.reason)
      }
    }
    try writer.write(item.record(verdict))
    // What was not written was not told.
    if told.isKept { try writer.flush() }
    told.add(item)
    count += 1
    try told.save(isLast: false)
  }

  /// What a command of the user's says of how soon an item matters: the first word that it prints, or
  /// that member of its JSON object. Of other JSON, whole or not, no word is an answer. Nothing of the
  /// item stands in its words or its environment: it reads the record.
  static func urgency(in answer: [UInt8]) -> NotificationRecord.Urgency? {
    let text = String(decoding: answer, as: UTF8.self)
    let word: String?
    if let value = try? answer.withUnsafeBytes({ try JSONValue.parse($0) }) {
      word = value["urgency"]?.string
    } else if let first = text.first(where: { !$0.isWhitespace }), "{[".contains(first) {
      word = nil
    } else {
      word = text.split { !$0.isLetter }.first.map(String.init)
    }
    return word.flatMap { NotificationRecord.Urgency(rawValue: $0.lowercased()) }
  }

  /// Writes what is complete, before something that may take time.
  private func settle(isLast: Bool) throws {
    try writer.flush()
    try told.save(isLast: isLast)
  }

  private func check() throws {
    if EndSignals.hasPending, let signal = EndSignals.next() { try leave(by: signal) }
  }

  private func leave(by signal: Int32) throws -> Never {
    try settle(isLast: true)
    Process.die(by: signal)
  }
}

/// What was told, in this run and, with a file, over restarts: a record `triage_state`.
struct ToldItems {
  private let file: StateFile?
  /// In the order in which they were told or met again, of this run and of earlier ones.
  private var order: [String] = []
  private var earlier: [String] = []
  private var known: Set<String> = []
  private var met: Set<String> = []
  private var savedAt = Clock.monotonic
  private var isDirty = false

  /// So many are remembered. All that this run met are, however many: they are there still.
  private let most: Int
  /// The longest file that one of ours can be, bytes.
  private static let limit = 64 << 20

  init(_ path: String?, most: Int = 50_000) throws(Failure) {
    self.most = most
    file = path.map { StateFile(path: $0) }
    guard let file, let bytes = try file.read(limit: Self.limit), !bytes.isEmpty else { return }
    guard let object = try? bytes.withUnsafeBytes({ try JSONValue.parse($0) }),
      object["type"]?.string == RecordType.triageState.rawValue,
      let told = object["told"]
    else { throw Failure(file.path, "not a state of mail-triage") }
    earlier = told.elements.compactMap(\.string)
    known = Set(earlier)
  }

  var isKept: Bool { file != nil }

  /// Whether an item was not told before. That it is there still is written down.
  mutating func isNew(_ item: Item) -> Bool {
    guard known.contains(item.key) else { return true }
    meet(item.key)
    return false
  }

  mutating func add(_ item: Item) {
    known.insert(item.key)
    meet(item.key)
    isDirty = true
  }

  private mutating func meet(_ key: String) {
    guard isKept, met.insert(key).inserted else { return }
    order.append(key)
  }

  /// Brings to disk what is new: at the end, and when a second has passed.
  mutating func save(isLast: Bool) throws(Failure) {
    guard let file, isDirty, isLast || Clock.monotonic - savedAt > 1 else { return }
    let gone = earlier.filter { !met.contains($0) }
    let all = gone.suffix(max(0, most - order.count)) + order
    try file.replace(
      with: RecordText(.triageState).strings("told", Array(all)).time(Timestamp.now()).line)
    isDirty = false
    savedAt = Clock.monotonic
  }
}
