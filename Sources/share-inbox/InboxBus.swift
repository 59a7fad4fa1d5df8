import CCrypto
import CLibc
import Core
import Records

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
        + [Self.patience] + place, input: file?.record ?? [],
      // Whoever asks for its token may ask a person.
      leadsGroup: false)
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

/// A file as it travels on a bus: the record `inbox_file`.
struct BusFile {
  let name: ItemName
  let content: [UInt8]

  init(name: ItemName, content: [UInt8]) { (self.name, self.content) = (name, content) }

  /// Reads a record, of which nothing is believed.
  init(_ line: UnsafeRawBufferPointer, maxSize: Int64) throws(Failure) {
    let object = try? JSONValue.parse(line)
    let id = object?["id"]?.string ?? "a file on the bus"
    guard let object, object["type"]?.string == RecordType.inboxFile.rawValue,
      let size = object["size"]?.integer, let digest = object["sha256"]?.string,
      let data = object["data"], data.string != nil
    else { throw Failure("not a record inbox_file", place: id) }
    let rest = object["name"]?.string.map { "-" + $0 } ?? object["suffix"]?.string.map { "." + $0 }
    guard let name = ItemName(Array((id + (rest ?? "")).utf8)), name.id == id else {
      throw Failure("not a name that add makes", place: id)
    }
    guard size <= maxSize else {
      throw Failure(OpenItem.tooLarge(size, maxSize: maxSize), place: id)
    }
    guard let content = data.withBytes({ Base64.bytes(of: $0) }) else {
      throw Failure("its data is not base64", place: id)
    }
    guard content.count == size, Self.digest(content) == digest else {
      throw Failure("its data is not what was added", place: id)
    }
    self.init(name: name, content: content)
  }

  var record: [UInt8] {
    let text = RecordText(.inboxFile).string("id", name.id).string("name", name.own)
      .string("suffix", name.own == nil ? name.suffix : nil).number("size", content.count)
      .string("sha256", Self.digest(content)).bytes
    var line = ByteBuffer()
    text.dropLast().withUnsafeBytes { line.append($0) }
    Array(",\"data\":\"".utf8).withUnsafeBytes { line.append($0) }
    content.withUnsafeBytes { Base64.append($0, to: &line) }
    Array("\"}\n".utf8).withUnsafeBytes { line.append($0) }
    return Array(line.bytes)
  }

  /// How many bytes a file may have whose record has so many.
  static func room(in record: Int) -> Int64 { Int64(max(record - 400, 0)) / 4 * 3 }

  private static func digest(_ bytes: [UInt8]) -> String {
    var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
    SHA256(bytes, bytes.count, &digest)
    return digest.hex
  }
}

/// Takes files from a bus into the folder, each once.
///
/// A file is whole and on disk under a hidden name, and a mark says so, before it has its own
/// name; only then is it acknowledged. One that comes again finds the mark.
final class BusIntake {
  private let bus: InboxBus
  private let maxSize: Int64
  private let diagnostics: Diagnostics
  private let child: ChildProcess
  private var lines: LineReader
  private(set) var status = ExitStatus.success.rawValue
  private(set) var hasEnded = false

  private static let markPrefix = ".taken-"
  private static let filePrefix = ".come-"
  /// How long it is remembered that a file came, seconds.
  private static let memory = 7 * 86_400.0
  /// Seconds that `bus-get` has to end when a signal came.
  private static let patienceAtEnd = 0.5
  /// EX_DATAERR of sysexits(3): a record that nobody will ever take.
  private static let bad: Int32 = 65

  init(_ bus: InboxBus, ends: Bool, maxSize: Int64, _ diagnostics: Diagnostics) throws(Failure) {
    (self.bus, self.maxSize, self.diagnostics) = (bus, maxSize, diagnostics)
    child = try bus.get(ends: ends)
    lines = LineReader(descriptor: child.output)
  }

  /// Readable when there is something to take, or no more; -1 behind the end.
  var descriptor: Int32 { hasEnded ? -1 : child.output }

  /// Takes what is there. Returns whether there was something.
  @discardableResult
  func receive(into folder: InboxFolder, waits: Bool) -> Bool {
    var hasSome = false
    while !hasEnded {
      do {
        let line = try lines.next {
          if !isReady(child.output, waits: waits) { throw Enough() }
        }
        guard let line else {
          hasEnded = true
          break
        }
        // A line that was cut short comes again.
        guard line.terminated else { continue }
        hasSome = true
        say(put(line.bytes, into: folder))
      } catch {
        if error is Enough { break }
        hasEnded = true
      }
    }
    return hasSome
  }

  private func say(_ verdict: Int32) {
    let text = "\(verdict)\n"
    _ = text.utf8.withContiguousStorageIfAvailable { write(child.input, $0.baseAddress, $0.count) }
  }

  func end() -> Int32 {
    child.closeInput()
    // What was not acknowledged comes again.
    if EndSignals.hasPending { child.end(within: Self.patienceAtEnd) }
    _ = child.waitForEnd()
    return child.exitStatus ?? ExitStatus.temporary.rawValue
  }

  private func put(_ line: UnsafeRawBufferPointer, into folder: InboxFolder) -> Int32 {
    let file: BusFile
    do throws(Failure) { file = try BusFile(line, maxSize: maxSize) } catch {
      diagnostics.say(error.message)
      status = max(status, ExitStatus.failure.rawValue)
      return Self.bad
    }
    do throws(Failure) {
      try FileLock.hold(beside: Folders.join(folder.path, ".bus")) { () throws(Failure) in
        try Self.put(file, into: folder)
      }
      return 0
    } catch {
      diagnostics.say(error.message)
      status = max(status, ExitStatus.temporary.rawValue)
      return ExitStatus.temporary.rawValue
    }
  }

  private static func put(_ file: BusFile, into folder: InboxFolder) throws(Failure) {
    func check(_ code: Int32) throws(Failure) {
      if code != 0 { throw Failure(folder.path, systemReason(code)) }
    }
    let (mark, hidden) = (markPrefix + file.name.id, filePrefix + file.name.text)
    if FolderFile.read(mark, in: folder.descriptor, limit: 0) == nil {
      try check(FolderFile.replace(hidden, in: folder.descriptor, with: file.content))
      try check(FolderFile.replace(mark, in: folder.descriptor, with: []))
    }
    let written = clibc_open_in(folder.descriptor, hidden, O_RDONLY)
    // Whoever marked it has given it its name.
    guard written >= 0 else { return try check(systemError == ENOENT ? 0 : systemError) }
    // Nothing will be added to it, which a drain need not wait to see.
    let past = timespec(tv_sec: time(nil) - 2, tv_nsec: 0)
    futimens(written, [past, past])
    close(written)
    let code =
      renameat(folder.descriptor, hidden, folder.descriptor, file.name.text) == 0 ? 0 : systemError
    fsync(folder.descriptor)
    try check(code)
  }

  /// When a file came from a bus, seconds since 1970; nil for one that did not.
  static func arrival(of name: ItemName, in folder: InboxFolder) -> Int64? {
    var status = stat()
    guard fstatat(folder.descriptor, markPrefix + name.id, &status, AT_SYMLINK_NOFOLLOW) == 0
    else { return nil }
    return FileVersion(status).modified / 1_000_000_000
  }

  /// Whether a hidden file of the folder is one of ours that nobody needs any more.
  static func isLeft(_ name: String, age: Double) -> Bool {
    age >= memory && (name.hasPrefix(markPrefix) || name.hasPrefix(filePrefix))
  }
}
