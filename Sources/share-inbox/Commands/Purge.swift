import CLibc
import Core

/// Removes what has been in the inbox for too long, and what was left half-written.
struct Purge {
  /// What became of an item.
  struct Result {
    let item: InboxItem
    /// Why it is still there, nil when it is gone.
    let problem: String?
  }

  let folder: InboxFolder
  /// Seconds.
  let age: Double
  let now: Timestamp

  /// Removes; an item that is being sent now stays.
  ///
  /// - Throws: `SettingsError` when the folder cannot be read.
  func run() throws(SettingsError) -> [Result] {
    let notes = ItemNotes(folder: folder)
    var results: [Result] = []
    var kept: Set<String> = []
    for item in try folder.scan().items {
      guard isOld(item) else {
        kept.insert(item.name.id)
        continue
      }
      let file = clibc_open_in(folder.descriptor, item.name.text, O_RDONLY)
      guard file >= 0 else { continue }
      defer { close(file) }
      guard clibc_lock(file) == 0 else {
        kept.insert(item.name.id)
        continue
      }
      var gone = item
      gone.state = .failed
      gone.reason = "purged"
      gone.time = now
      let code = folder.remove(item.name, opened: file)
      if code == 0 { notes.drop(item.name) } else { kept.insert(item.name.id) }
      results.append(Result(item: gone, problem: code == 0 ? nil : systemReason(code)))
    }
    try removeLeftovers(kept)
    return results
  }

  /// By the time in its name, which is when it was dropped: a picture of last year
  /// that was moved in just now is new here. A time that is still to come says nothing;
  /// that of the content has to do.
  private func isOld(_ item: InboxItem) -> Bool {
    guard item.name.epoch > now.seconds else {
      return Double(now.seconds - item.name.epoch) >= age
    }
    var status = stat()
    guard fstatat(folder.descriptor, item.name.text, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      return false
    }
    return Double(now.seconds - FileVersion(status).modified / 1_000_000_000) >= age
  }

  /// Files that an interrupted `add` left, and notes of items that have gone.
  private func removeLeftovers(_ kept: Set<String>) throws(SettingsError) {
    for name in try folder.names() {
      let text = FileName.text(name)
      if let id = ItemNotes.id(ofFile: name) {
        if !kept.contains(id) { unlinkat(folder.descriptor, text, 0) }
      } else if text.hasPrefix(Deposit.temporaryPrefix) {
        var status = stat()
        guard fstatat(folder.descriptor, text, &status, AT_SYMLINK_NOFOLLOW) == 0,
          status.isRegular,
          Double(now.seconds - FileVersion(status).modified / 1_000_000_000) >= max(age, 86_400)
        else { continue }
        unlinkat(folder.descriptor, text, 0)
      }
    }
  }
}
