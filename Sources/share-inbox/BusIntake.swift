import CLibc
import Core

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
