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
