import CLibc
import Core

/// What is remembered of an item beside its file: why it is still in the inbox,
/// and whether it is to be tried again. Kept in hidden files of the inbox.
struct ItemNotes {
  /// What the last try came to.
  struct Note: Equatable {
    /// Whether it is not tried again until asked for.
    var isFinal: Bool
    /// One line, lower case.
    var reason: String
    var time: Timestamp
  }

  let folder: InboxFolder

  /// The note of an item, nil when there is none or it cannot be read: then the
  /// item is queued, which loses nothing.
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
  ///
  /// - Throws: `SettingsError`.
  func keep(_ note: Note, of name: ItemName) throws(SettingsError) {
    if let known = self.note(name), known.isFinal == note.isFinal, known.reason == note.reason {
      return
    }
    let state: InboxItem.State = note.isFinal ? .failed : .queued
    let text =
      #"{"state":"\#(state.rawValue)","reason":\#(JSONQuote.string(note.reason))"#
      + #","time":"\#(note.time.rfc3339)"}"# + "\n"
    let file = Self.fileName(name)
    let code = FolderFile.replace(file, in: folder.descriptor, with: Array(text.utf8))
    guard code == 0 else {
      throw SettingsError(Folders.join(folder.path, file), systemReason(code))
    }
  }

  /// Forgets an item.
  func drop(_ name: ItemName) { unlinkat(folder.descriptor, Self.fileName(name), 0) }

  /// An item with what is known of it: its note, and whether it is being sent.
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

  /// Whether some process sends the item now.
  private func isHeld(_ name: ItemName) -> Bool {
    let file = clibc_open_in(folder.descriptor, name.text, O_RDONLY)
    guard file >= 0 else { return false }
    defer { close(file) }
    return clibc_lock(file) != 0 && systemError == EWOULDBLOCK
  }

  /// The item's id of a note's file name, nil for another file.
  static func id(ofFile name: [UInt8]) -> String? {
    let text = FileName.text(name)
    guard text.hasPrefix(prefix), text.hasSuffix(suffix) else { return nil }
    return String(text.dropFirst(prefix.count).dropLast(suffix.count))
  }

  private static let prefix = ".note-"
  private static let suffix = ".json"
  private static func fileName(_ name: ItemName) -> String { prefix + name.id + suffix }
}
