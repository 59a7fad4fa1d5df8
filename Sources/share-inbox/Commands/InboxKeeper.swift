import CLibc
import Core

/// What can be done with the inbox on this machine alone.
struct InboxKeeper {
  let folder: InboxFolder
  let output: ItemOutput
  let diagnostics: Diagnostics

  /// Puts files in, and prints a record for each. One that cannot be is named, and
  /// the next one is put in.
  func add(_ files: [String], by deposit: Deposit) throws -> ExitStatus {
    var status = ExitStatus.success
    var unwritten: WriteFailure?
    for file in files {
      let item: InboxItem
      do throws(SettingsError) {
        item = try deposit.add(file, now: .now())
      } catch {
        diagnostics.say(error.message)
        status = .failure
        continue
      }
      do throws(WriteFailure) {
        try output.write([item])
      } catch {
        unwritten = unwritten ?? error
      }
    }
    if let unwritten { throw unwritten }
    return status
  }

  /// Prints all items; what is none is named.
  ///
  /// - Returns: `negative` when there is no item, `failure` when what is called as one is
  ///   none of ours.
  func list() throws -> ExitStatus {
    let found = try folder.scan()
    say(found.foreign)
    let notes = ItemNotes(folder: folder)
    try output.write(found.items.map(notes.completed))
    if found.foreign.contains(where: \.isItem) { return .failure }
    return found.items.isEmpty ? .negative : .success
  }

  /// Removes what is older, and prints it.
  ///
  /// - Parameter age: seconds.
  func purge(olderThan age: Double, now: Timestamp) throws -> ExitStatus {
    let purge = Purge(folder: folder, age: age, now: now)
    var status = ExitStatus.success
    for result in try purge.run() {
      if let problem = result.problem {
        diagnostics.error(result.item.path, problem)
        status = .failure
      } else {
        try output.write([result.item])
      }
    }
    return status
  }

  /// Lets failed items be sent again.
  ///
  /// - Returns: `negative` when an id is none.
  func retry(_ ids: [String]) throws -> ExitStatus {
    try each(ids) { item in
      ItemNotes(folder: folder).drop(item.name)
      var item = item
      item.time = Timestamp(seconds: item.name.epoch)
      if item.state == .failed { item.state = .queued }
      item.reason = nil
      try output.write([item])
      return true
    }
  }

  /// Removes items that were not sent.
  ///
  /// - Returns: `negative` when an id is none.
  func remove(_ ids: [String]) throws -> ExitStatus {
    try each(ids) { item in
      let file = clibc_open_in(folder.descriptor, item.name.text, O_RDONLY)
      guard file >= 0 else {
        diagnostics.error(item.path, systemReason(systemError))
        return false
      }
      defer { close(file) }
      guard clibc_lock(file) == 0 else {
        diagnostics.error(item.path, "is being sent")
        return false
      }
      let code = folder.remove(item.name, opened: file)
      guard code == 0 else {
        diagnostics.error(item.path, systemReason(code))
        return false
      }
      ItemNotes(folder: folder).drop(item.name)
      try output.write([item])
      return true
    }
  }

  /// Names what is in the folder and is no item.
  func say(_ foreign: [InboxFolder.Foreign]) {
    for other in foreign {
      let name = FileName.text(other.name)
      diagnostics.error(Folders.join(folder.path, name), other.reason)
    }
  }

  /// Does something with the items of these ids: the id of the record, the UUID in it,
  /// or the file's name.
  private func each(
    _ ids: [String], _ body: (InboxItem) throws -> Bool
  ) throws -> ExitStatus {
    let items = try folder.scan().items.map(ItemNotes(folder: folder).completed)
    var status = ExitStatus.success
    for id in ids {
      let named = items.filter { $0.name.id == id || $0.name.uuid == id || $0.name.text == id }
      if named.count != 1 {
        diagnostics.error(id, named.isEmpty ? "no such item" : "more than one item")
        if status == .success { status = .negative }
      } else if try !body(named[0]) {
        status = .failure
      }
    }
    return status
  }
}
