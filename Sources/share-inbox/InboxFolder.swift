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
    let name: [UInt8]
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
      guard let name = ItemName(bytes) else {
        let reason = "not an item's name, left alone"
        foreign.append(Foreign(name: bytes, reason: reason, isItem: false))
        continue
      }
      var status = stat()
      guard fstatat(descriptor, name.text, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
      if let reason = Self.objection(status) {
        foreign.append(Foreign(name: bytes, reason: "\(reason), left alone", isItem: true))
        continue
      }
      items.append(
        InboxItem(
          name: name, path: Folders.join(path, name.text), size: Int64(status.st_size),
          time: Timestamp(seconds: name.epoch)))
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

/// What is remembered of an item beside its file: why it is still in the inbox,
/// and whether it is to be tried again. Kept in hidden files of the inbox.
struct ItemNotes {
  struct Note: Equatable {
    var isFinal: Bool
    /// One line, lower case.
    var reason: String
    var time: Timestamp
  }

  let folder: InboxFolder

  /// The note of an item, nil without one or when it cannot be read: then the item is
  /// queued, which loses nothing.
  func note(_ name: ItemName) -> Note? {
    guard
      let bytes = FolderFile.read(Self.fileName(name), in: folder.descriptor, limit: 1 << 16),
      let value = try? bytes.withUnsafeBytes({ try JSONValue.parse($0) }),
      let reason = value["reason"]?.string
    else { return nil }
    let time = value["time"]?.string.flatMap { Timestamp(rfc3339: $0) }
    return Note(
      isFinal: value["state"]?.string == InboxItem.State.failed.rawValue, reason: reason,
      time: time ?? Timestamp(seconds: name.epoch))
  }

  /// Keeps a note; one that says what is known already is not written again.
  func keep(_ note: Note, of name: ItemName) throws(Failure) {
    if let known = self.note(name), known.isFinal == note.isFinal, known.reason == note.reason {
      return
    }
    let state: InboxItem.State = note.isFinal ? .failed : .queued
    let text =
      RecordText().string("state", state.rawValue).string("reason", note.reason).time(note.time)
      .text
      + "\n"
    let file = Self.fileName(name)
    let code = FolderFile.replace(file, in: folder.descriptor, with: Array(text.utf8))
    guard code == 0 else {
      throw Failure(Folders.join(folder.path, file), systemReason(code))
    }
  }

  func drop(_ name: ItemName) { unlinkat(folder.descriptor, Self.fileName(name), 0) }

  func completed(_ item: InboxItem) -> InboxItem {
    var item = item
    if let note = note(item.name) {
      item.state = note.isFinal ? .failed : .queued
      item.reason = note.reason
      item.time = note.time
    }
    if isHeld(item.name) { item.state = .sending }
    return item
  }

  private func isHeld(_ name: ItemName) -> Bool {
    let file = clibc_open_in(folder.descriptor, name.text, O_RDONLY)
    guard file >= 0 else { return false }
    defer { close(file) }
    return clibc_lock(file) != 0 && systemError == EWOULDBLOCK
  }

  static func id(ofFile name: [UInt8]) -> String? {
    let text = FileName.text(name)
    guard text.hasPrefix(prefix), text.hasSuffix(suffix) else { return nil }
    return String(text.dropFirst(prefix.count).dropLast(suffix.count))
  }

  private static let prefix = ".note-"
  private static let suffix = ".json"
  private static func fileName(_ name: ItemName) -> String { prefix + name.id + suffix }
}
