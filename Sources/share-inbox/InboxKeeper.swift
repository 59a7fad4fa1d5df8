import CLibc
import Core

struct InboxKeeper {
  let folder: InboxFolder
  let output: ItemOutput
  let diagnostics: Diagnostics

  /// A file that cannot be put in is named, and the next one is put in.
  func add(
    _ files: [String], by deposit: (String, Timestamp) throws(Failure) -> InboxItem
  ) throws -> ExitStatus {
    var status = ExitStatus.success
    var unwritten: WriteFailure?
    func heedSignal() throws {
      guard let signal = EndSignals.next() else { return }
      try output.flush()
      Process.die(by: signal)
    }
    for file in files {
      try heedSignal()
      let item: InboxItem
      do throws(Failure) {
        item = try deposit(file, .now())
      } catch {
        try heedSignal()
        diagnostics.say(error.message)
        if status == .success { status = error.status }
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

  func list() throws -> ExitStatus {
    let found = try folder.scan()
    say(found.foreign)
    let notes = ItemNotes(folder: folder)
    try output.write(found.items.map(notes.completed))
    if found.foreign.contains(where: \.isItem) { return .failure }
    if found.items.isEmpty { output.tellEmpty(diagnostics) }
    return found.items.isEmpty ? .negative : .success
  }

  /// Removes what is older, and prints it.
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
    let items = try folder.scan().items.map(ItemNotes(folder: folder).completed)
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

struct Purge {
  struct Result {
    let item: InboxItem
    let problem: String?
  }

  /// Seconds.
  static let usualAge = 86_400.0

  let folder: InboxFolder
  /// Seconds; infinity for leftovers alone.
  let age: Double
  let now: Timestamp

  /// Removes; an item that is being sent now stays.
  func run() throws(Failure) -> [Result] {
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
  /// that of the content has to do. What waited on a bus is here since it came.
  private func isOld(_ item: InboxItem) -> Bool {
    let since = max(item.name.epoch, BusIntake.arrival(of: item.name, in: folder) ?? 0)
    guard since > now.seconds else { return Double(now.seconds - since) >= age }
    var status = stat()
    guard fstatat(folder.descriptor, item.name.text, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      return false
    }
    return Double(now.seconds - FileVersion(status).modified / 1_000_000_000) >= age
  }

  /// Files that an interrupted `add` left, and notes of items that have gone.
  private func removeLeftovers(_ kept: Set<String>) throws(Failure) {
    for name in try folder.names() {
      let text = FileName.text(name)
      if let id = ItemNotes.id(ofFile: name) {
        if !kept.contains(id) { unlinkat(folder.descriptor, text, 0) }
      } else if text.hasPrefix(".") {
        var status = stat()
        guard fstatat(folder.descriptor, text, &status, AT_SYMLINK_NOFOLLOW) == 0,
          status.isRegular
        else { continue }
        let since = Double(now.seconds - FileVersion(status).modified / 1_000_000_000)
        let least = age.isFinite ? max(age, Self.usualAge) : Self.usualAge
        let isLeft = text.hasPrefix(Deposit.temporaryPrefix) && since >= least
        if isLeft || BusIntake.isLeft(text, age: since) { unlinkat(folder.descriptor, text, 0) }
      }
    }
  }
}
