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
