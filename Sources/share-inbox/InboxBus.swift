import CLibc
import Core

/// The bus that files go over: a stream that is a queue of work, by bus-put(1) and bus-get(1).
struct InboxBus {
  private let place: [String]
  private let subject: String
  private let program: String

  private static let durable = "share-inbox"
  /// How long there may be no server, seconds.
  private static let patience = "10"
  /// No server takes larger records than 64 MB.
  static let largest: Int64 = 48 << 20

  init(_ settings: Settings, program: String) {
    let isNamed = Process.environment("AGENT_BUS") != nil
    let section = isNamed ? nil : settings.configuration.buses["inbox"]
    let stream = section?.stream ?? "inbox"
    place = (section == nil ? [] : ["-b", "inbox"]) + ["-t", stream]
    subject = stream + ".file"
    self.program = program
  }

  func put(_ file: BusFile?) throws(Failure) -> (status: Int32, said: [String]) {
    let child = try start(
      ["bus-put", "--create", "--work-queue", "--id", "/id", "-u", subject, "-q", "--max-wait"]
        + [Self.patience], output: .ours, error: .pipe)
    var rest = file?.record[...] ?? []
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(child.input, $0.baseAddress, $0.count) }
      if count >= 0 { rest = rest.dropFirst(count) }
      if count < 0, systemError == EAGAIN {
        guard isReady(child.input, POLLOUT) else { return Self.end(child) }
      } else if count < 0, systemError != EINTR {
        break
      }
    }
    child.closeInput()
    var said: [String] = []
    var lines = LineReader(descriptor: child.error)
    func pause() throws {
      if !isReady(child.error, POLLIN) { throw Enough() }
    }
    while let line = try? lines.next(beforeBlocking: pause) {
      let text = String(decoding: line.bytes, as: UTF8.self)
      let words = text.hasPrefix(program + ": ") ? text.dropFirst(program.count + 2) : text[...]
      said.append(String(words.hasPrefix("-:1: ") ? words.dropFirst(5) : words))
    }
    if EndSignals.hasPending { return Self.end(child) }
    _ = child.waitForEnd()
    return (child.exitStatus ?? ExitStatus.temporary.rawValue, said)
  }

  private static func end(_ child: ChildProcess) -> (status: Int32, said: [String]) {
    child.end(within: patienceAtEnd)
    return (ExitStatus.temporary.rawValue, [])
  }

  /// Seconds that a program of the bus has to end when a signal came.
  static let patienceAtEnd = 0.5

  /// Starts to take files.
  func get(ends: Bool) throws(Failure) -> ChildProcess {
    try start(
      ["bus-get", "--confirm", "-d", Self.durable, "--all"]
        + (ends ? ["-e", "-q", "--max-wait", Self.patience] : []), [subject],
      output: .pipe, error: .ours)
  }

  private func start(
    _ words: [String], _ operands: [String] = [], output: ChildProcess.Stream,
    error: ChildProcess.Stream
  ) throws(Failure) -> ChildProcess {
    // What goes wrong there goes wrong here.
    return try ChildProcess(
      words + place + operands, environment: ["AGENTUTILS_PROGRAM": program], input: .pipe,
      output: output, error: error)
  }
}

/// Waits for a descriptor. False when a signal came first, or, for who does not wait, it is not ready.
func isReady(_ descriptor: Int32, _ events: Int32, waits: Bool = true) -> Bool {
  var entries = [
    pollfd(fd: descriptor, events: Int16(events), revents: 0),
    pollfd(fd: EndSignals.descriptor, events: Int16(POLLIN), revents: 0),
  ]
  while poll(&entries, 2, waits ? -1 : 0) < 0, systemError == EINTR {}
  return entries[0].revents != 0 && entries[1].revents == 0
}

/// `add --bus`: puts files on a bus, each whole or not at all.
struct BusDeposit {
  let bus: InboxBus
  let options: InboxOptions

  func add(_ path: String, now: Timestamp) throws(Failure) -> InboxItem {
    let limit = min(options.maxSize, InboxBus.largest)
    let source = try DepositSource(path, maxSize: limit)
    let content = try source.bytes(limit: limit)
    let kind =
      options.suffix ?? source.ending ?? FileKind.suffix(Array(content.prefix(FileKind.window)))
    let name = ItemName(time: now, random: Deposit.random(), stem: source.stem, suffix: kind)
    let (status, said) = try bus.put(BusFile(name: name, content: content))
    guard status == 0 else {
      let reason = Self.reason(said, size: Int64(content.count)) ?? "ended with status \(status)"
      throw Failure(source.label, reason, ExitStatus(rawValue: status) ?? .failure)
    }
    if options.moves { try source.remove() }
    return InboxItem(name: name, path: "", size: Int64(content.count), time: now)
  }

  private static func reason(_ said: [String], size: Int64) -> String? {
    guard let last = said.last else { return nil }
    guard last.holds("larger than the server takes"),
      let most = Int(last.split { $0 == "(" || $0 == ")" }.last ?? "")
    else { return last }
    let room = BusFile.room(in: most)
    return "too large for the bus (\(size) bytes > \(room) bytes)"
  }
}
