import CLibc
import Core
import Records

/// The folder that files are dropped into. It is held open: names are looked up
/// in it and in nothing that was put in its place.
final class InboxFolder {
  /// As the user is told it; absolute.
  let path: String
  let descriptor: Int32

  struct Foreign {
    let path: String
    let reason: String
    /// Whether it is called as an item is, so that somebody means it to be one.
    let isItem: Bool
  }

  /// Opens the folder, and makes it for the user alone when it is not there.
  init(path: String) throws(Failure) {
    self.path = path
    var descriptor = clibc_open(path, O_RDONLY | O_DIRECTORY)
    if descriptor < 0 && systemError == ENOENT {
      try Folders.make(path)
      descriptor = clibc_open(path, O_RDONLY | O_DIRECTORY)
    }
    guard descriptor >= 0 else { throw Failure(path, systemReason(systemError)) }
    self.descriptor = descriptor
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & 0o002 == 0 else {
      throw Failure(path, "refused: everyone can write to it (chmod o-w)")
    }
  }

  deinit { close(descriptor) }

  /// All items, the oldest first, and what else is there.
  func scan() throws(Failure) -> (items: [InboxItem], foreign: [Foreign]) {
    var items: [InboxItem] = []
    var foreign: [Foreign] = []
    for bytes in try names() where bytes.first != UInt8(ascii: ".") {
      let path = Folders.join(path, FileName.text(bytes))
      guard let name = ItemName(bytes) else {
        let reason = "not an item's name, left alone"
        foreign.append(Foreign(path: path, reason: reason, isItem: false))
        continue
      }
      var status = stat()
      guard fstatat(descriptor, name.text, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
      if let reason = Self.objection(status) {
        foreign.append(Foreign(path: path, reason: "\(reason), left alone", isItem: true))
        continue
      }
      items.append(
        InboxItem(
          name: name, path: path, size: Int64(status.st_size), time: Timestamp(seconds: name.epoch))
      )
    }
    items.sort { ($0.name.epoch, $0.name.text) < ($1.name.epoch, $1.name.text) }
    return (items, foreign)
  }

  static func objection(_ status: stat) -> String? {
    switch status.st_mode & mode_t(S_IFMT) {
    case mode_t(S_IFREG):
      status.st_uid != geteuid()
        ? "not our own file" : status.st_nlink > 1 ? "a file with several names" : nil
    case mode_t(S_IFLNK): "a symbolic link"
    case mode_t(S_IFDIR): "a folder"
    case mode_t(S_IFIFO): "a FIFO"
    case mode_t(S_IFSOCK): "a socket"
    default: "a device"
    }
  }

  /// If it is still the one that is open: another of that name is somebody else's.
  func remove(_ name: ItemName, opened: Int32) -> Int32 {
    var ours = stat()
    var there = stat()
    guard fstat(opened, &ours) == 0,
      fstatat(descriptor, name.text, &there, AT_SYMLINK_NOFOLLOW) == 0
    else { return systemError == ENOENT ? 0 : systemError }
    guard ours.st_dev == there.st_dev, ours.st_ino == there.st_ino else { return ESTALE }
    return unlinkat(descriptor, name.text, 0) == 0 || systemError == ENOENT ? 0 : systemError
  }

  /// Every name in the folder, hidden ones too, in no order.
  func names() throws(Failure) -> [[UInt8]] {
    // A descriptor of its own: reading a folder moves in it and closes it.
    let copy = clibc_open_in(descriptor, ".", O_RDONLY | O_DIRECTORY)
    guard copy >= 0, let stream = fdopendir(copy) else {
      let code = systemError
      if copy >= 0 { close(copy) }
      throw Failure(path, systemReason(code))
    }
    defer { closedir(stream) }
    var names: [[UInt8]] = []
    while true {
      guard let entry = readdir(stream) else { break }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        Array(bytes.prefix { $0 != 0 })
      }
      if name != [46] && name != [46, 46] { names.append(name) }
    }
    return names
  }
}

/// What is remembered of an item beside its file: why it is still in the inbox, and whether it is to
/// be tried again. Kept in hidden files of the inbox.
extension InboxFolder {
  /// Nil without a note or when it cannot be read: then the item is queued, which loses nothing.
  /// The reason is one line, lower case.
  func note(of name: ItemName) -> (isFinal: Bool, reason: String, time: Timestamp)? {
    guard let bytes = FolderFile.read(Self.noteFile(name), in: descriptor, limit: 1 << 16),
      let value = try? bytes.withUnsafeBytes({ try JSONValue.parse($0) }),
      let reason = value["reason"]?.string
    else { return nil }
    let time = value["time"]?.time
    let isFinal = value["state"]?.string == InboxItem.State.failed.rawValue
    return (isFinal, reason, time ?? Timestamp(seconds: name.epoch))
  }

  /// Keeps a note; one that says what is known already is not written again.
  func keep(_ reason: String, isFinal: Bool, of name: ItemName) throws(Failure) {
    if let known = note(of: name), known.isFinal == isFinal, known.reason == reason { return }
    let state: InboxItem.State = isFinal ? .failed : .queued
    let line = RecordText().string("state", state.rawValue).string("reason", reason).time(.now())
      .line
    let file = Self.noteFile(name)
    let code = FolderFile.replace(file, in: descriptor, with: line)
    guard code == 0 else { throw Failure(Folders.join(path, file), systemReason(code)) }
  }

  func dropNote(of name: ItemName) { unlinkat(descriptor, Self.noteFile(name), 0) }

  /// An item with what is remembered of it.
  func completed(_ item: InboxItem) -> InboxItem {
    var item = item
    if let note = note(of: item.name) {
      item.state = note.isFinal ? .failed : .queued
      (item.reason, item.time) = (note.reason, note.time)
    }
    if isHeld(item.name) { item.state = .sending }
    return item
  }

  private func isHeld(_ name: ItemName) -> Bool {
    let file = clibc_open_in(descriptor, name.text, O_RDONLY)
    guard file >= 0 else { return false }
    defer { close(file) }
    return clibc_lock(file) != 0 && systemError == EWOULDBLOCK
  }

  static func id(ofNote text: String) -> String? {
    guard text.hasPrefix(prefix), text.hasSuffix(suffix) else { return nil }
    return String(text.dropFirst(prefix.count).dropLast(suffix.count))
  }

  private static let prefix = ".note-"
  private static let suffix = ".json"
  private static func noteFile(_ name: ItemName) -> String { prefix + name.id + suffix }
}

extension InboxFolder {
  /// Seconds.
  static let usualAge = 86_400.0

  /// Removes what is older; an item that is being sent now stays. What could not be removed has a
  /// problem. With an infinite age, in seconds, leftovers alone go.
  func purge(
    olderThan age: Double, now: Timestamp
  ) throws(Failure) -> [(item: InboxItem, problem: String?)] {
    var results: [(InboxItem, String?)] = []
    var kept: Set<String> = []
    for item in try scan().items {
      guard isOld(item, age, now) else {
        kept.insert(item.name.id)
        continue
      }
      let file = clibc_open_in(descriptor, item.name.text, O_RDONLY)
      guard file >= 0 else { continue }
      defer { close(file) }
      guard clibc_lock(file) == 0 else {
        kept.insert(item.name.id)
        continue
      }
      var gone = item
      (gone.state, gone.reason, gone.time) = (.failed, "purged", now)
      let code = remove(item.name, opened: file)
      if code == 0 { dropNote(of: item.name) } else { kept.insert(item.name.id) }
      results.append((gone, code == 0 ? nil : systemReason(code)))
    }
    try removeLeftovers(kept, age, now)
    return results
  }

  /// By the time in its name, which is when it was dropped: a picture of last year
  /// that was moved in just now is new here. A time that is still to come says nothing;
  /// that of the content has to do. What waited on a bus is here since it came.
  private func isOld(_ item: InboxItem, _ age: Double, _ now: Timestamp) -> Bool {
    let since = max(item.name.epoch, BusIntake.arrival(of: item.name, in: self) ?? 0)
    guard since > now.seconds else { return Double(now.seconds - since) >= age }
    return self.age(of: item.name.text, now).map { $0 >= age } ?? false
  }

  /// How long nothing was written to a regular file, seconds; nil where there is none.
  private func age(of name: String, _ now: Timestamp) -> Double? {
    var status = stat()
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.isRegular else {
      return nil
    }
    return Double(now.seconds - FileVersion(status).modified / 1_000_000_000)
  }

  /// Files that an interrupted `add` left, and notes of items that have gone.
  private func removeLeftovers(
    _ kept: Set<String>, _ age: Double, _ now: Timestamp
  ) throws(Failure) {
    for name in try names().map(FileName.text) where name.hasPrefix(".") {
      if let id = Self.id(ofNote: name) {
        if !kept.contains(id) { unlinkat(descriptor, name, 0) }
      } else if let since = self.age(of: name, now) {
        let least = age.isFinite ? max(age, Self.usualAge) : Self.usualAge
        let isLeft = name.hasPrefix(Deposit.temporaryPrefix) && since >= least
        if isLeft || BusIntake.isLeft(name, age: since) { unlinkat(descriptor, name, 0) }
      }
    }
  }
}
