import CLibc
import Core
import Screen
import Shell

/// Hands over what is in the inbox, the oldest first. A file leaves only when it has
/// arrived; whatever happens before, it is still queued.
struct Drain {
  var folder: InboxFolder
  let options: InboxOptions
  let output: RowOutput
  let diagnostics: Diagnostics
  let handover: any Handover
  private let said = Said()

  struct Result {
    var status = ExitStatus.success.rawValue
    var left = 0
    var delivered = 0
    var failure: HostFailure?
  }

  init(
    _ folder: InboxFolder, _ options: InboxOptions, _ output: RowOutput, _ diagnostics: Diagnostics,
    _ handover: any Handover
  ) {
    (self.folder, self.options, self.output) = (folder, options, output)
    (self.diagnostics, self.handover) = (diagnostics, handover)
  }

  /// Hands over all that is there, then purges what has been there for longer than one says.
  func run(saysForeign: Bool) throws -> Result {
    var result = Result()
    let found = try folder.scan()
    say(found.foreign.filter { saysForeign || $0.isItem })
    let waiting = found.items.filter { folder.note(of: $0.name)?.isFinal != true }
    if !waiting.isEmpty { try hand(over: waiting, &result) }
    try output.flush()
    if result.status == ExitStatus.success.rawValue, found.foreign.contains(where: \.isItem) {
      result.status = ExitStatus.failure.rawValue
    }
    // It may be the only copy: nothing goes unasked.
    for old in try folder.purge(olderThan: options.age ?? .infinity, now: .now()) {
      diagnostics.error(old.item.path, old.problem ?? "purged: it could not be delivered in time")
    }
    return result
  }

  private func hand(over items: [InboxItem], _ result: inout Result) throws {
    // Nothing that will never be sent needs a connection.
    let pending = try items.filter { item in
      guard item.size > options.maxSize else { return true }
      do throws(OpenItem.Obstacle) {
        _ = try OpenItem(item, in: folder, maxSize: options.maxSize)
      } catch {
        try report(error, item, &result)
      }
      return false
    }
    guard !pending.isEmpty else { return }
    do throws(HostFailure) {
      try handover.begin()
    } catch {
      result.left = pending.count
      return stop(error, &result)
    }
    var rest = pending[...]
    while let item = rest.first {
      let group = smallOnes(rest)
      var failure: HostFailure?
      if group.count > 1, try hand(together: group, &result, &failure) {
        rest = rest.dropFirst(group.count)
        continue
      }
      if failure == nil {
        failure = try hand(over: item, &result)
        if failure?.stopsDrain != true {
          if failure != nil { result.left += 1 }
          rest = rest.dropFirst()
          continue
        }
      }
      result.left += rest.count
      if let failure { stop(failure, &result) }
      return
    }
  }

  /// The first items, as many as can go at once.
  private func smallOnes(_ items: ArraySlice<InboxItem>) -> ArraySlice<InboxItem> {
    let most = handover.batch
    var size: Int64 = 0
    let count = items.prefix(most.count).prefix { item in
      size += item.size
      return item.size <= Self.small && size <= most.size
    }.count
    return items.prefix(count)
  }

  /// Bytes of a file for which a call of its own is not worth it.
  private static let small: Int64 = 1 << 16

  /// Whether they were taken; else each is to be tried by itself.
  private func hand(
    together items: ArraySlice<InboxItem>, _ result: inout Result,
    _ failure: inout HostFailure?
  ) throws -> Bool {
    var open: [OpenItem] = []
    for item in items {
      do throws(OpenItem.Obstacle) {
        open.append(try OpenItem(item, in: folder, maxSize: options.maxSize))
      } catch {
        return false
      }
    }
    let receipts: [Receipt]
    do throws(HostFailure) {
      guard let taken = try handover.hand(open) else { return false }
      receipts = taken
    } catch {
      if error.stopsDrain { failure = error }
      return false
    }
    // All have been typed: none stays queued because another one cannot be written.
    let items = zip(open, receipts).map { finish($0, $1, &result) }
    try output.list(items.map(\.record), .inboxItems)
    try output.flush()
    return true
  }

  /// Why it was not taken; nil when it was, or is not ours to send.
  private func hand(over item: InboxItem, _ result: inout Result) throws -> HostFailure? {
    let open: OpenItem
    do throws(OpenItem.Obstacle) {
      open = try OpenItem(item, in: folder, maxSize: options.maxSize)
    } catch {
      try report(error, item, &result)
      return nil
    }
    let progress = ProgressLine(
      item.name.shown, size: Int64(open.size), isQuiet: options.quiet)
    let receipt: Receipt
    do throws(HostFailure) {
      receipt = try handover.hand(open) { progress.show(Int64($0), now: Clock.monotonic) }
    } catch {
      progress.clear()
      if !error.stopsDrain {
        say(item, "stays queued: \(error.reason)")
        keep(error.reason, isFinal: false, item)
        result.status = max(result.status, error.drainStatus)
      }
      return error
    }
    progress.clear()
    try output.list([finish(open, receipt, &result).record], .inboxItems)
    try output.flush()
    return nil
  }

  private func finish(
    _ open: OpenItem, _ receipt: Receipt, _ result: inout Result
  ) -> InboxItem {
    let name = open.item.name
    var item = open.item
    item.size = Int64(open.size)
    item.session = receipt.session
    item.remotePath = receipt.remotePath
    item.time = .now()
    if receipt.isOther || FileVersion(open.descriptor) != open.version {
      // What was added is nowhere else. It will not be typed again: it has its mark.
      let reason = "delivered, but changed since: kept here"
      diagnostics.error(item.path, reason)
      keep(reason, isFinal: true, item)
      (item.state, item.reason) = (.failed, reason)
      result.status = ExitStatus.failure.rawValue
    } else {
      let code = folder.remove(name, opened: open.descriptor)
      if code != 0 {
        let why = systemReason(code)
        diagnostics.error(item.path, "delivered, but cannot be removed: \(why)")
        result.status = ExitStatus.failure.rawValue
      }
      folder.dropNote(of: name)
      item.state = .delivered
    }
    result.delivered += 1
    return item
  }

  private func report(
    _ obstacle: OpenItem.Obstacle, _ item: InboxItem, _ result: inout Result
  ) throws {
    switch obstacle {
    case .taken: break
    case .foreign(let reason):
      say(item, reason)
    case .waits(let reason):
      say(item, "stays queued: \(reason)")
      result.left += 1
      result.status = max(result.status, ExitStatus.temporary.rawValue)
    case .never(let reason):
      diagnostics.error(item.path, reason)
      keep(reason, isFinal: true, item)
      var failed = item
      (failed.state, failed.reason, failed.time) = (.failed, reason, .now())
      try output.list([failed.record], .inboxItems)
      if result.status == ExitStatus.success.rawValue {
        result.status = ExitStatus.failure.rawValue
      }
    }
  }

  private func keep(_ reason: String, isFinal: Bool, _ item: InboxItem) {
    do throws(Failure) {
      try folder.keep(reason, isFinal: isFinal, of: item.name)
    } catch {
      diagnostics.say(error.message)
    }
  }

  private func stop(_ failure: HostFailure, _ result: inout Result) {
    result.failure = failure
    result.status = failure.drainStatus
  }

  private func say(_ item: InboxItem, _ text: String) {
    if said.isNew(item.name.text + ": " + text) { diagnostics.error(item.path, text) }
  }

  private func say(_ foreign: [InboxFolder.Foreign]) {
    for other in foreign {
      let name = FileName.text(other.name)
      if said.isNew(name + ": " + other.reason) {
        diagnostics.error(Folders.join(folder.path, name), other.reason)
      }
    }
  }
}

final class Said {
  private var lines: Set<String> = []

  func isNew(_ line: String) -> Bool {
    // Forgotten now and then, so that it does not grow without end.
    if lines.count > 1000 { lines = [] }
    return lines.insert(line).inserted
  }
}
