import CLibc
import Core
import Screen
import Shell

/// Hands over what is in the inbox, the oldest first. A file leaves only when it has
/// arrived; whatever happens before, it is still queued.
final class Drain {
  var folder: InboxFolder
  let options: InboxOptions
  let output: RowOutput
  let diagnostics: Diagnostics
  let handover: any Handover
  private var result = Result()
  private var said: Set<String> = []

  struct Result {
    var status = ExitStatus.success.rawValue
    var left = 0
    var delivered = 0
    var failure: HostFailure?

    fileprivate mutating func worsen(_ status: Int32) { self.status = max(self.status, status) }
    fileprivate mutating func fail() {
      if status == ExitStatus.success.rawValue { status = ExitStatus.failure.rawValue }
    }
  }

  init(
    _ folder: InboxFolder, _ options: InboxOptions, _ output: RowOutput, _ diagnostics: Diagnostics,
    _ handover: any Handover
  ) {
    (self.folder, self.options, self.output) = (folder, options, output)
    (self.diagnostics, self.handover) = (diagnostics, handover)
  }

  /// Hands over all that is there, then purges what has been there for longer than one says.
  func run(saysForeign: Bool) throws -> Result {
    result = Result()
    let found = try folder.scan()
    for other in found.foreign where saysForeign || other.isItem { say(other.path, other.reason) }
    let waiting = found.items.filter { folder.note(of: $0.name)?.isFinal != true }
    if !waiting.isEmpty { try hand(over: waiting) }
    try output.flush()
    if found.foreign.contains(where: \.isItem) { result.fail() }
    // It may be the only copy: nothing goes unasked.
    for old in try folder.purge(olderThan: options.age ?? .infinity, now: .now()) {
      diagnostics.error(old.item.path, old.problem ?? "purged: it could not be delivered in time")
    }
    return result
  }

  private func hand(over items: [InboxItem]) throws {
    // Nothing that will never be sent needs a connection.
    var rest = try items.filter { item in
      if item.size <= options.maxSize { return true }
      _ = try open(item)
      return false
    }[...]
    if rest.isEmpty { return }
    do {
      try handover.begin()
      while let item = rest.first {
        let group = smallOnes(rest)
        if group.count > 1, try hand(together: group) {
          rest = rest.dropFirst(group.count)
        } else {
          try hand(over: item)
          rest = rest.dropFirst()
        }
      }
    } catch let failure as HostFailure {
      result.left += rest.count
      (result.failure, result.status) = (failure, failure.drainStatus)
    }
  }

  /// The first items, as many as can go at once.
  private func smallOnes(_ items: ArraySlice<InboxItem>) -> ArraySlice<InboxItem> {
    let most = handover.batch
    var size: Int64 = 0
    let count = items.prefix(most.count).prefix { item in
      size += item.size
      return item.size <= Self.small && size <= most.size
    }.count
    return items.prefix(count)
  }

  /// Bytes of a file for which a call of its own is not worth it.
  private static let small: Int64 = 1 << 16

  /// Whether they were taken; else each is to be tried by itself. Throws what stops all.
  private func hand(together items: ArraySlice<InboxItem>) throws -> Bool {
    let open = items.compactMap { try? OpenItem($0, in: folder, maxSize: options.maxSize) }
    guard open.count == items.count else { return false }
    let receipts: [Receipt]
    do throws(HostFailure) {
      guard let taken = try handover.hand(open) else { return false }
      receipts = taken
    } catch {
      if error.stopsDrain { throw error }
      return false
    }
    // All have been typed: none stays queued because another one cannot be written.
    let items = zip(open, receipts).map { finish($0, $1) }
    try output.list(items.map(\.record), .inboxItems)
    try output.flush()
    return true
  }

  /// Throws what stops all.
  private func hand(over item: InboxItem) throws {
    guard let open = try open(item) else { return }
    let progress = ProgressLine(item.name.shown, size: Int64(open.size), isQuiet: options.quiet)
    let receipt: Receipt
    do throws(HostFailure) {
      receipt = try handover.hand(open) { progress.show(Int64($0), now: Clock.monotonic) }
    } catch {
      progress.clear()
      if error.stopsDrain { throw error }
      say(item.path, "stays queued: \(error.reason)")
      keep(error.reason, isFinal: false, item)
      result.worsen(error.drainStatus)
      result.left += 1
      return
    }
    progress.clear()
    try output.list([finish(open, receipt).record], .inboxItems)
    try output.flush()
  }

  private func finish(_ open: OpenItem, _ receipt: Receipt) -> InboxItem {
    var item = open.item
    item.size = Int64(open.size)
    (item.session, item.remotePath) = (receipt.session, receipt.remotePath)
    item.time = .now()
    if receipt.isOther || FileVersion(open.descriptor) != open.version {
      // What was added is nowhere else. It will not be typed again: it has its mark.
      let reason = "delivered, but changed since: kept here"
      diagnostics.error(item.path, reason)
      keep(reason, isFinal: true, item)
      (item.state, item.reason) = (.failed, reason)
      result.status = ExitStatus.failure.rawValue
    } else {
      let code = folder.remove(item.name, opened: open.descriptor)
      if code != 0 {
        diagnostics.error(item.path, "delivered, but cannot be removed: \(systemReason(code))")
        result.status = ExitStatus.failure.rawValue
      }
      folder.dropNote(of: item.name)
      item.state = .delivered
    }
    result.delivered += 1
    return item
  }

  /// Opens an item, or says why it cannot be sent.
  private func open(_ item: InboxItem) throws -> OpenItem? {
    do throws(OpenItem.Obstacle) {
      return try OpenItem(item, in: folder, maxSize: options.maxSize)
    } catch .taken {
      return nil
    } catch .foreign(let reason) {
      say(item.path, reason)
    } catch .waits(let reason) {
      say(item.path, "stays queued: \(reason)")
      result.left += 1
      result.worsen(ExitStatus.temporary.rawValue)
    } catch .never(let reason) {
      diagnostics.error(item.path, reason)
      keep(reason, isFinal: true, item)
      var failed = item
      (failed.state, failed.reason, failed.time) = (.failed, reason, .now())
      try output.list([failed.record], .inboxItems)
      result.fail()
    }
    return nil
  }

  private func keep(_ reason: String, isFinal: Bool, _ item: InboxItem) {
    do throws(Failure) {
      try folder.keep(reason, isFinal: isFinal, of: item.name)
    } catch {
      diagnostics.say(error.message)
    }
  }

  /// Says something once.
  private func say(_ path: String, _ text: String) {
    // Forgotten now and then, so that it does not grow without end.
    if said.count > 1000 { said = [] }
    if said.insert(path + ": " + text).inserted { diagnostics.error(path, text) }
  }
}

/// An item that is being delivered: its file is open and locked, and everything is
/// read from there; its name is not looked at again but to remove it.
final class OpenItem {
  enum Obstacle: Error, Equatable {
    case taken
    case foreign(String)
    case waits(String)
    /// It never will be, unless asked for again.
    case never(String)
  }

  let item: InboxItem
  let descriptor: Int32
  /// Bytes; what is sent.
  let size: Int
  let version: FileVersion
  private let folder: InboxFolder

  /// Opens an item.
  init(_ item: InboxItem, in folder: InboxFolder, maxSize: Int64) throws(Obstacle) {
    let descriptor = clibc_open_in(folder.descriptor, item.name.text, O_RDONLY)
    guard descriptor >= 0 else {
      switch systemError {
      case ENOENT: throw .taken
      case ELOOP, EMLINK: throw .foreign("a symbolic link, left alone")
      case let code: throw .waits(systemReason(code))
      }
    }
    do throws(Obstacle) {
      version = FileVersion(try Self.inspect(descriptor, maxSize))
      size = Int(version.size)
    } catch {
      close(descriptor)
      throw error
    }
    (self.item, self.folder, self.descriptor) = (item, folder, descriptor)
  }

  deinit { close(descriptor) }

  /// The same file opened once more, from its beginning and without the lock: who has
  /// that may outlive this process. Returns for the caller to close; nil when its name is another
  /// file's by now.
  func reopened() -> Int32? {
    let other = clibc_open_in(folder.descriptor, item.name.text, O_RDONLY)
    guard other >= 0 else { return nil }
    let identity = FileIdentity(descriptor: descriptor)
    if identity != nil, identity == FileIdentity(descriptor: other) { return other }
    close(other)
    return nil
  }

  /// All of a small file; nil when it cannot be read, or has changed meanwhile.
  func content() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: size)
    var count = 0
    while count < size {
      let got = bytes.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress! + count, size - count, off_t(count))
      }
      if got < 0 && systemError == EINTR { continue }
      guard got > 0 else { return nil }
      count += got
    }
    return FileVersion(descriptor) == version ? bytes : nil
  }

  private static func inspect(_ descriptor: Int32, _ maxSize: Int64) throws(Obstacle) -> stat {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .waits(systemReason(systemError)) }
    if let objection = InboxFolder.objection(status) { throw .foreign("\(objection), left alone") }
    guard lock(descriptor) else { throw .taken }
    // Who had the lock before may have delivered it.
    guard fstat(descriptor, &status) == 0, status.st_nlink > 0 else { throw .taken }
    guard status.st_size <= maxSize else {
      throw .never(tooLarge(Int64(status.st_size), maxSize: maxSize))
    }
    if clibc_is_being_written(descriptor) != 0 || !isQuiet(descriptor) {
      throw .waits("still being written")
    }
    return status
  }

  /// Whether nothing is added to a file that was written to just now: a writer may
  /// open it again for each piece. What `add` makes has been quiet for long.
  private static func isQuiet(_ descriptor: Int32) -> Bool {
    guard let version = FileVersion(descriptor) else { return false }
    let now = Timestamp.now()
    let age = now.seconds * 1000 + Int64(now.nanoseconds / 1_000_000) - version.modified / 1_000_000
    guard 0..<quiet ~= age else { return true }
    poll(nil, 0, Int32(quiet - age))
    return FileVersion(descriptor) == version
  }

  /// Milliseconds.
  private static let quiet: Int64 = 500

  /// A list of the items looks at the lock for a moment, a drain keeps it.
  private static func lock(_ descriptor: Int32) -> Bool {
    for _ in 0..<5 {
      if clibc_lock(descriptor) == 0 { return true }
      poll(nil, 0, 2)
    }
    return false
  }

  /// `too large (210 MB > 200 MB)`, in units of 2 to the 20, the file's rounded up;
  /// in bytes where the limit is not a whole number of them.
  static func tooLarge(_ size: Int64, maxSize: Int64) -> String {
    guard isWhole(maxSize) else { return "too large (\(size) B > \(maxSize) B)" }
    return "too large (\((size - 1) / unit + 1) MB > \(maxSize / unit) MB)"
  }

  static func tooLarge(maxSize: Int64) -> String {
    "too large (more than \(isWhole(maxSize) ? "\(maxSize / unit) MB" : "\(maxSize) B"))"
  }

  private static let unit: Int64 = 1 << 20
  private static func isWhole(_ size: Int64) -> Bool { size >= unit && size % unit == 0 }
}
