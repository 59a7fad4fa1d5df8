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
    if let objection = objection(status, isInput) { throw SettingsError(label, objection) }
    // What has no bytes to look at yet is given its type when it is here.
    let known = status.isRegular ? suffix(of: path, source) : suffix ?? suffix(ofName: path)
    let random = Self.random()
    let name = ItemName(time: now, random: random, suffix: known ?? "bin")
    if moves && !isInput && Self.rename(path, to: folder, name, status, opened: source) {
      return item(name, size: Int64(status.st_size), now)
    }
    let copy = try copy(source, label) { written in
      guard known == nil else { return name }
      return ItemName(time: now, random: random, suffix: FileKind.suffix(Self.head(of: written)))
    }
    if moves && !isInput && unlink(path) != 0 {
      throw SettingsError(label, "copied, but cannot be removed: \(systemReason(systemError))")
    }
    return item(copy.name, size: copy.size, now)
  }

  /// Why something is not copied: a device may have no end, and a FIFO nobody at the
  /// other one.
  private func objection(_ status: stat, _ isInput: Bool) -> String? {
    if status.isRegular {
      let size = Int64(status.st_size)
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

  /// The suffix: what was asked for, else the name's, else what the bytes say.
  private func suffix(of path: String, _ source: Int32) -> String {
    suffix ?? suffix(ofName: path) ?? FileKind.suffix(Self.head(of: source))
  }

  private func suffix(ofName path: String) -> String? {
    let name = path.utf8.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? []
    // .profile is a name without a suffix.
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return nil }
    let suffix = Array(name[(dot + 1)...])
    return ItemName.isSuffix(suffix)
      ? String(decoding: suffix, as: UTF8.self).lowercased() : nil
  }

  private static func head(of file: Int32) -> [UInt8] {
    var head = [UInt8](repeating: 0, count: FileKind.window)
    let count = pread(file, &head, head.count, 0)
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
    _ source: Int32, _ label: String, name: (_ written: Int32) -> ItemName
  ) throws(SettingsError) -> (name: ItemName, size: Int64) {
    let temporary = Self.temporaryPrefix + Self.random().map { String($0, radix: 36) }.joined()
    let target = clibc_create_in(folder.descriptor, temporary)
    guard target >= 0 else { throw SettingsError(folder.path, systemReason(systemError)) }
    var copier = FileCopier(from: source, to: target, limit: maxSize)
    var failure = copier.run().map {
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

/// Copies one open file to another: in the kernel where that can be done.
struct FileCopier {
  /// Which side failed.
  enum Side { case source, target }

  let source: Int32
  let target: Int32
  /// The most bytes that may be copied.
  let limit: Int64
  /// Bytes copied.
  private(set) var count: Int64 = 0

  private static let piece = 1 << 20

  /// - Parameters:
  ///   - source: an open file at its place, as `target` is.
  ///   - limit: the most bytes that may be copied.
  init(from source: Int32, to target: Int32, limit: Int64) {
    self.source = source
    self.target = target
    self.limit = limit
  }

  /// Copies to the end of the source.
  ///
  /// - Returns: nil when done, else the side that failed and the error number: EFBIG for
  ///   a source that does not end within the limit.
  mutating func run() -> (Side, Int32)? {
    while true {
      if count > limit { return (.source, EFBIG) }
      let copied = clibc_copy_range(source, target, Int(min(1 << 30, room)))
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
    }
    return copyByHand()
  }

  /// One byte more than the limit allows tells that there are more.
  private var room: Int64 { limit - count + (limit < .max ? 1 : 0) }

  private mutating func copyByHand() -> (Side, Int32)? {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.piece, alignment: 4096)
    defer { buffer.deallocate() }
    while true {
      if count > limit { return (.source, EFBIG) }
      let got = read(source, buffer.baseAddress, Int(min(Int64(buffer.count), room)))
      if got < 0 {
        if systemError == EINTR { continue }
        guard systemError == EAGAIN else { return (.source, systemError) }
        // A pipe whose writer is slow.
        var entry = pollfd(fd: source, events: Int16(POLLIN), revents: 0)
        _ = poll(&entry, 1, -1)
        continue
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
    }
  }
}
