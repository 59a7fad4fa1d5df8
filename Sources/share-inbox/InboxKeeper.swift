import CLibc
import Core
import Screen

struct InboxKeeper {
  let folder: InboxFolder
  let output: RowOutput
  let diagnostics: Diagnostics

  /// A file that cannot be put in is named, and the next one is put in.
  func add(
    _ files: [String], by deposit: (String, Timestamp) throws(Failure) -> InboxItem
  ) throws -> ExitStatus {
    var status = ExitStatus.success
    var unwritten: WriteFailure?
    func endIfAsked() throws {
      guard let signal = EndSignals.next() else { return }
      try output.flush()
      Process.die(by: signal)
    }
    for file in files {
      try endIfAsked()
      let item: InboxItem
      do throws(Failure) {
        item = try deposit(file, .now())
      } catch {
        try endIfAsked()
        diagnostics.say(error.message)
        if status == .success { status = error.status }
        continue
      }
      do throws(WriteFailure) {
        try write([item])
      } catch {
        unwritten = unwritten ?? error
      }
    }
    if let unwritten { throw unwritten }
    return status
  }

  func list() throws -> ExitStatus {
    let found = try folder.scan()
    say(found.foreign)
    try write(found.items.map(folder.completed))
    if found.foreign.contains(where: \.isItem) { return .failure }
    if !found.items.isEmpty { return .success }
    output.tellEmpty("no file waits in the inbox: share-inbox add FILE puts one there", diagnostics)
    return .negative
  }

  /// Removes what is older, and prints it.
  func purge(olderThan age: Double, now: Timestamp) throws -> ExitStatus {
    var status = ExitStatus.success
    for (item, problem) in try folder.purge(olderThan: age, now: now) {
      if let problem {
        diagnostics.error(item.path, problem)
        status = .failure
      } else {
        try write([item])
      }
    }
    return status
  }

  func retry(_ ids: [String]) throws -> ExitStatus {
    try each(ids) { item in
      folder.dropNote(of: item.name)
      var item = item
      item.time = Timestamp(seconds: item.name.epoch)
      if item.state == .failed { item.state = .queued }
      item.reason = nil
      try write([item])
      return true
    }
  }

  func remove(_ ids: [String]) throws -> ExitStatus {
    try each(ids) { item in
      let file = clibc_open_in(folder.descriptor, item.name.text, O_RDONLY)
      defer { if file >= 0 { close(file) } }
      let fault: String? =
        if file < 0 {
          systemReason(systemError)
        } else if clibc_lock(file) != 0 {
          "is being sent"
        } else {
          switch folder.remove(item.name, opened: file) {
          case 0: nil
          case let code: systemReason(code)
          }
        }
      if let fault {
        diagnostics.error(item.path, fault)
        return false
      }
      folder.dropNote(of: item.name)
      try write([item])
      return true
    }
  }

  private func write(_ items: [InboxItem]) throws(WriteFailure) {
    try output.list(items.map(\.record), .inboxItems)
  }

  func say(_ foreign: [InboxFolder.Foreign]) {
    for other in foreign {
      let name = FileName.text(other.name)
      diagnostics.error(Folders.join(folder.path, name), other.reason)
    }
  }

  /// Does something with the items of these ids: the id of the record, the UUID in it,
  /// the file's name, or its own where only one has that.
  private func each(
    _ ids: [String], _ body: (InboxItem) throws -> Bool
  ) throws -> ExitStatus {
    let items = try folder.scan().items.map(folder.completed)
    var status = ExitStatus.success
    for id in ids {
      let named = items.filter { item in
        [item.name.id, item.name.uuid, item.name.text, item.name.own].contains(id)
      }
      if named.count != 1 {
        let ids = named.map(\.name.id).joined(separator: ", ")
        diagnostics.error(id, named.isEmpty ? "no such item" : "more than one item: \(ids)")
        if status == .success { status = .negative }
      } else if try !body(named[0]) {
        status = .failure
      }
    }
    return status
  }
}
