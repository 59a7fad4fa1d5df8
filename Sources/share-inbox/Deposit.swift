import CLibc
import Core

/// Puts files into the inbox, each whole or not at all: a hidden file of the same
/// folder is written, brought to disk, and renamed.
struct Deposit {
  let folder: InboxFolder
  let options: InboxOptions

  static let temporaryPrefix = ".add-"

  func add(_ path: String, now: Timestamp) throws(Failure) -> InboxItem {
    let source = try DepositSource(path, maxSize: options.maxSize)
    let (label, size) = (source.label, source.size)
    // What has no bytes to look at yet is given its type when it is here.
    let known = options.suffix ?? source.ending ?? size.map { _ in FileKind.suffix(source.head) }
    let random = Self.random()
    let name = ItemName(time: now, random: random, stem: source.stem, suffix: known ?? "bin")
    if options.moves && !source.isInput && Self.rename(path, to: folder, name, source) {
      return item(name, size: Int64(source.status.st_size), now)
    }
    let progress = ProgressLine(name.own ?? label, size: size, isQuiet: options.quiet)
    defer { progress.clear() }
    let copy = try copy(source.descriptor, label, progress) { written in
      guard known == nil else { return name }
      let suffix = FileKind.suffix(DepositSource.head(of: written, 0))
      return ItemName(time: now, random: random, stem: source.stem, suffix: suffix)
    }
    if options.moves { try source.remove() }
    return item(copy.name, size: copy.size, now)
  }

  private func item(_ name: ItemName, size: Int64, _ now: Timestamp) -> InboxItem {
    InboxItem(name: name, path: Folders.join(folder.path, name.text), size: size, time: now)
  }

  /// Only for a regular file of the user's own on the same disk.
  private static func rename(
    _ path: String, to folder: InboxFolder, _ name: ItemName, _ source: DepositSource
  ) -> Bool {
    let (opened, file) = (source.status, source.descriptor)
    var named = stat()
    guard lstat(path, &named) == 0, InboxFolder.objection(named) == nil,
      named.st_ino == opened.st_ino, named.st_dev == opened.st_dev, named.st_nlink == 1,
      fsync(file) == 0, renameat(AT_FDCWD, path, folder.descriptor, name.text) == 0
    else { return false }
    fchmod(file, 0o600)
    fsync(folder.descriptor)
    return true
  }

  /// Copies into a hidden file and gives it its name once it is on disk.
  private func copy(
    _ source: Int32, _ label: String, _ progress: ProgressLine,
    name: (_ written: Int32) -> ItemName
  ) throws(Failure) -> (name: ItemName, size: Int64) {
    let temporary = Self.temporaryPrefix + Self.random().map { String($0, radix: 36) }.joined()
    let target = clibc_create_in(folder.descriptor, temporary)
    guard target >= 0 else { throw Failure(folder.path, systemReason(systemError)) }
    var copier = FileCopier(from: source, to: target, limit: options.maxSize)
    let trouble = copier.run { progress.show($0, now: Clock.monotonic) }
    var failure = trouble.map {
      $1 == EFBIG && $0 == .source
        ? Failure(label, OpenItem.tooLarge(maxSize: options.maxSize) + DepositSource.hint)
        : Failure($0 == .source ? label : folder.path, systemReason($1))
    }
    // Nothing will be added to it, which a drain need not wait to see.
    let past = timespec(tv_sec: time(nil) - 2, tv_nsec: 0)
    futimens(target, [past, past])
    if failure == nil && fsync(target) != 0 {
      failure = Failure(folder.path, systemReason(systemError))
    }
    let name = name(target)
    // Before it has its name: a drain leaves alone what somebody has open to write.
    close(target)
    if failure == nil
      && renameat(folder.descriptor, temporary, folder.descriptor, name.text) != 0
    {
      failure = Failure(folder.path, systemReason(systemError))
    }
    if let failure {
      unlinkat(folder.descriptor, temporary, 0)
      throw failure
    }
    fsync(folder.descriptor)
    return (name, copier.count)
  }

  static func random() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }
}

/// Copies one open file to another: in the kernel where that can be done.
struct FileCopier {
  enum Side { case source, target }

  let source: Int32
  let target: Int32
  /// The most bytes that may be copied.
  let limit: Int64
  private(set) var count: Int64 = 0

  private static let piece = 1 << 20
  /// Bytes that the kernel copies before anybody is told.
  private static let stretch: Int64 = 1 << 25

  init(from source: Int32, to target: Int32, limit: Int64) {
    (self.source, self.target, self.limit) = (source, target, limit)
  }

  /// Copies to the end of the source. Returns nil when done, else the side that failed and the
  /// error number: EFBIG for a source that does not end within the limit, EINTR for a signal that
  /// is watched for.
  mutating func run(_ progress: (Int64) -> Void) -> (Side, Int32)? {
    while true {
      if count > limit { return (.source, EFBIG) }
      if EndSignals.hasPending { return (.source, EINTR) }
      let copied = clibc_copy_range(source, target, Int(min(Self.stretch, room)))
      // Some file systems say 0 for a file whose size they do not know: let read
      // find the end.
      if copied == 0 { break }
      if copied < 0 {
        let code = systemError
        if code == EINTR { continue }
        if [EINVAL, ENOSYS, EXDEV, EOPNOTSUPP, EBADF, EPERM].contains(code) { break }
        return (.target, code)
      }
      count += Int64(copied)
      progress(count)
    }
    return copyByHand(progress)
  }

  /// One byte more than the limit allows tells that there are more.
  private var room: Int64 { limit - count + (limit < .max ? 1 : 0) }

  private mutating func copyByHand(_ progress: (Int64) -> Void) -> (Side, Int32)? {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.piece, alignment: 4096)
    defer { buffer.deallocate() }
    while true {
      if count > limit { return (.source, EFBIG) }
      // A pipe whose writer is slow.
      if !isReady(source) { return (.source, EINTR) }
      let got = read(source, buffer.baseAddress, Int(min(Int64(buffer.count), room)))
      if got < 0 {
        if systemError == EINTR || systemError == EAGAIN { continue }
        return (.source, systemError)
      }
      if got == 0 { return nil }
      var rest = UnsafeRawBufferPointer(rebasing: buffer[..<got])
      while !rest.isEmpty {
        let put = write(target, rest.baseAddress, rest.count)
        if put < 0 {
          if systemError == EINTR { continue }
          return (.target, systemError)
        }
        count += Int64(put)
        rest = UnsafeRawBufferPointer(rebasing: rest[put...])
      }
      progress(count)
    }
  }
}

final class DepositSource {
  let label: String
  let isInput: Bool
  let descriptor: Int32
  let status: stat
  /// What has its name: the file, or a symbolic link to it.
  private let named: stat?
  /// Bytes from here to the end; nil where nobody knows.
  let size: Int64?
  /// What it is called, for a name; empty for standard input.
  let stem: String
  let ending: String?
  /// Where it is read from: somebody may have read a part of standard input.
  private let start: off_t

  init(_ path: String, maxSize: Int64) throws(Failure) {
    isInput = path == "-"
    label = isInput ? "standard input" : path
    descriptor = isInput ? dup(0) : clibc_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
      let code = systemError
      close(descriptor)
      throw Failure(label, systemReason(code))
    }
    self.status = status
    named = isInput ? nil : Self.named(path)
    start = max(0, lseek(descriptor, 0, SEEK_CUR))
    size = status.isRegular ? max(0, Int64(status.st_size) - Int64(start)) : nil
    (stem, ending) = isInput ? ("", nil) : Self.parts(of: path)
    if let objection = Self.objection(status, size, isInput, maxSize: maxSize) {
      throw Failure(label, objection)
    }
  }

  deinit { close(descriptor) }

  func bytes(limit: Int64) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      // A pipe whose writer is slow must not keep a signal from ending this.
      guard isReady(descriptor) else { throw Failure(label, systemReason(EINTR)) }
      let count = read(descriptor, &piece, piece.count)
      if count == 0 { return bytes }
      if count < 0 {
        if systemError == EINTR || systemError == EAGAIN { continue }
        throw Failure(label, systemReason(systemError))
      }
      bytes += piece[..<count]
      if bytes.count > limit {
        throw Failure(label, OpenItem.tooLarge(maxSize: limit) + Self.hint)
      }
    }
  }

  /// Takes it from its old place, now that it has another: not what somebody has put there
  /// meanwhile, nor what was added to it.
  func remove() throws(Failure) {
    if isInput { return }
    var now = stat()
    guard fstat(descriptor, &now) == 0, FileVersion(now) == FileVersion(status),
      Self.isSame(named, Self.named(label)), Self.isSame(now, stat(following: label))
    else { throw Failure(label, "copied, but changed since: kept") }
    guard unlink(label) != 0 else { return }
    throw Failure(label, "copied, but cannot be removed: \(systemReason(systemError))")
  }

  private static func named(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
  }

  private static func isSame(_ one: stat?, _ other: stat?) -> Bool {
    guard let one, let other else { return false }
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino
  }

  var head: [UInt8] { Self.head(of: descriptor, start) }

  /// A device may have no end, and a FIFO nobody at the other one.
  private static func objection(
    _ status: stat, _ size: Int64?, _ isInput: Bool, maxSize: Int64
  ) -> String? {
    if let size {
      return size > maxSize ? OpenItem.tooLarge(size, maxSize: maxSize) + hint : nil
    }
    switch status.st_mode & mode_t(S_IFMT) {
    case mode_t(S_IFDIR): return systemReason(EISDIR)
    case _ where isInput: return nil
    case mode_t(S_IFIFO): return "a FIFO, not a regular file; - reads standard input"
    default: return "a device, not a regular file; - reads standard input"
    }
  }

  static let hint = "; --max-size allows more"

  private static func parts(of path: String) -> (stem: String, suffix: String?) {
    let name = path.utf8.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? []
    // .profile is a name without a suffix.
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0,
      ItemName.isSuffix(Array(name[(dot + 1)...]))
    else { return (ItemName.stem(of: name), nil) }
    let suffix = String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
    return (ItemName.stem(of: name[..<dot]), suffix)
  }

  static func head(of file: Int32, _ start: off_t) -> [UInt8] {
    var head = [UInt8](repeating: 0, count: FileKind.window)
    let count = pread(file, &head, head.count, start)
    return Array(head.prefix(max(0, count)))
  }
}
