import CLibc
import Core

/// mail-triage(1): what comes in, by urgency.
public func mailTriageMain() {
  TriageOptions.table.run(TriageOptions()) { options, diagnostics in
    let rules = try rules(options, diagnostics)
    EndSignals.watch()
    guard let path = options.state else {
      return try TriageLoop(options, rules, try ToldItems(nil), diagnostics).run()
    }
    return try FileLock.hold(beside: path, seconds: 0, busy: .temporary) {
      () throws(Failure) in
      let told = try ToldItems(path)
      return Result { try TriageLoop(options, rules, told, diagnostics).run() }
    }.get()
  }
}

private func rules(
  _ options: TriageOptions, _ diagnostics: Diagnostics
) throws(Failure) -> RuleBook {
  let path = options.rules ?? Folders.join(Folders().config, "triage")
  if options.rules == nil, stat(following: path) == nil { return RuleBook() }
  let bytes = try BoundedFile.text(path, limit: RuleBook.limit)
  let book = RuleBook(String(decoding: bytes, as: UTF8.self))
  if book.faults.isEmpty { return book }
  for fault in book.faults { diagnostics.fault(file: path, line: fault.line, fault.reason) }
  Process.exit(.failure)
}
