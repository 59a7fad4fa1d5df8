import CLibc
import Core

/// Puts files into the inbox, each whole or not at all: a hidden file of the same
/// folder is written, brought to disk, and renamed.
struct Deposit {
  let folder: InboxFolder
  /// The suffix that was asked for, nil for the file's own.
  let suffix: String?
  /// Whether the file leaves its old place.
  let moves: Bool
  /// The most bytes that a file may have.
  let maxSize: Int64
  /// Whether nobody is told how far a file is.
  let isQuiet: Bool

  /// What a file that is being written is called at first.
  static let temporaryPrefix = ".add-"

  /// Puts one file in.
  ///
  /// - Parameters:
  ///   - path: as the user wrote it; `-` is standard input.
  ///   - now: the time of the deposit.
  /// - Throws: `SettingsError`; the inbox and the file are then as before.
  func add(_ path: String, now: Timestamp) throws(SettingsError) -> InboxItem {
    let isInput = path == "-"
    let label = isInput ? "standard input" : path
    let source = isInput ? dup(0) : clibc_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    guard source >= 0 else { throw SettingsError(label, systemReason(systemError)) }
    defer { close(source) }
    var status = stat()
    guard fstat(source, &status) == 0 else { throw SettingsError(label, systemReason(systemError)) }
    // Somebody may have read a part of standard input.
    let start = max(0, lseek(source, 0, SEEK_CUR))
    let size = status.isRegular ? max(0, Int64(status.st_size) - Int64(start)) : nil
    if let objection = objection(status, size, isInput) { throw SettingsError(label, objection) }
    let (stem, ending) = isInput ? ("", nil) : Self.parts(of: path)
    // What has no bytes to look at yet is given its type when it is here.
    let known = suffix ?? ending ?? size.map { _ in FileKind.suffix(Self.head(of: source, start)) }
    let random = Self.random()
    let name = ItemName(time: now, random: random, stem: stem, suffix: known ?? "bin")
    if moves && !isInput && Self.rename(path, to: folder, name, status, opened: source) {
      return item(name, size: Int64(status.st_size), now)
    }
    let progress = ProgressLine(name.own ?? label, size: size, isQuiet: isQuiet)
    defer { progress.clear() }
    let copy = try copy(source, label, progress) { written in
      guard known == nil else { return name }
      let suffix = FileKind.suffix(Self.head(of: written, 0))
      return ItemName(time: now, random: random, stem: stem, suffix: suffix)
    }
    if moves && !isInput && unlink(path) != 0 {
      throw SettingsError(label, "copied, but cannot be removed: \(systemReason(systemError))")
    }
    return item(copy.name, size: copy.size, now)
  }

  /// Why something is not copied: a device may have no end, and a FIFO nobody at the
  /// other one.
  private func objection(_ status: stat, _ size: Int64?, _ isInput: Bool) -> String? {
    if let size {
      return size > maxSize ? OpenItem.tooLarge(size, maxSize: maxSize) + Self.hint : nil
    }
    switch status.st_mode & mode_t(S_IFMT) {
    case mode_t(S_IFDIR): return systemReason(EISDIR)
    case _ where isInput: return nil
    case mode_t(S_IFIFO): return "a FIFO, not a regular file; - reads standard input"
    default: return "a device, not a regular file; - reads standard input"
    }
  }

  private static let hint = "; --max-size allows more"

  private func item(_ name: ItemName, size: Int64, _ now: Timestamp) -> InboxItem {
    InboxItem(name: name, path: Folders.join(folder.path, name.text), size: size, time: now)
  }

  /// What a file is called, and the suffix that this ends with, if there is one.
  private static func parts(of path: String) -> (stem: String, suffix: String?) {
    let name = path.utf8.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? []
    // .profile is a name without a suffix.
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0,
      ItemName.isSuffix(Array(name[(dot + 1)...]))
    else { return (ItemName.stem(of: name), nil) }
    let suffix = String(decoding: name[(dot + 1)...], as: UTF8.self).lowercased()
    return (ItemName.stem(of: name[..<dot]), suffix)
  }

  private static func head(of file: Int32, _ start: off_t) -> [UInt8] {
    var head = [UInt8](repeating: 0, count: FileKind.window)
    let count = pread(file, &head, head.count, start)
    return Array(head.prefix(max(0, count)))
  }

  /// Moves a file in by its name alone, where it is a regular file of the user's
  /// own on the same disk.
  private static func rename(
    _ path: String, to folder: InboxFolder, _ name: ItemName, _ opened: stat, opened file: Int32
  ) -> Bool {
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
  ) throws(SettingsError) -> (name: ItemName, size: Int64) {
    let temporary = Self.temporaryPrefix + Self.random().map { String($0, radix: 36) }.joined()
    let target = clibc_create_in(folder.descriptor, temporary)
    guard target >= 0 else { throw SettingsError(folder.path, systemReason(systemError)) }
    var copier = FileCopier(from: source, to: target, limit: maxSize)
    let trouble = copier.run { progress.show($0, now: Clock.monotonic) }
    var failure = trouble.map {
      $1 == EFBIG && $0 == .source
        ? SettingsError(label, OpenItem.tooLarge(maxSize: maxSize) + Self.hint)
        : SettingsError($0 == .source ? label : folder.path, systemReason($1))
    }
    // Nothing will be added to it, which a drain need not wait to see.
    let past = timespec(tv_sec: time(nil) - 2, tv_nsec: 0)
    futimens(target, [past, past])
    if failure == nil && fsync(target) != 0 {
      failure = SettingsError(folder.path, systemReason(systemError))
    }
    let name = name(target)
    // Before it has its name: a drain leaves alone what somebody has open to write.
    close(target)
    if failure == nil
      && renameat(folder.descriptor, temporary, folder.descriptor, name.text) != 0
    {
      failure = SettingsError(folder.path, systemReason(systemError))
    }
    if let failure {
      unlinkat(folder.descriptor, temporary, 0)
      throw failure
    }
    fsync(folder.descriptor)
    return (name, copier.count)
  }

  private static func random() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }
}
