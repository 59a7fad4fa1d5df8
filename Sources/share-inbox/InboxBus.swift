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

  /// Puts a file on the bus, or makes the stream alone. A signal ends the process.
  func put(_ file: BusFile?) throws(Failure) -> (status: Int32, said: [String]) {
    let call = try ProgramCall(
      ["bus-put", "--create", "--work-queue", "--id", "/id", "-u", subject, "-q", "--max-wait"]
        + [Self.patience] + place, input: file?.record ?? [])
    ProgramCall.wait(for: [call])
    let said = call.faults.map { $0.hasPrefix("-:1: ") ? String($0.dropFirst(5)) : $0 }
    return (call.child.exitStatus ?? ExitStatus.temporary.rawValue, said)
  }

  /// Starts to take files.
  func get(ends: Bool) throws(Failure) -> ChildProcess {
    // What goes wrong there goes wrong here.
    try ChildProcess(
      ["bus-get", "--confirm", "-d", Self.durable, "--all"]
        + (ends ? ["-e", "-q", "--max-wait", Self.patience] : []) + place + [subject],
      environment: ["AGENTUTILS_PROGRAM": program], input: .pipe, output: .pipe, error: .ours)
  }
}

/// Waits until there is something to read. False when a signal came first, or, for who does not wait, it is not ready.
func isReady(_ descriptor: Int32, waits: Bool = true) -> Bool {
  var entries = [descriptor, EndSignals.descriptor].map {
    pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
  }
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
