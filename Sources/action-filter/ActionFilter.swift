import CLibc
import Core
import Records

/// action-filter(1): selects actions from the suite's record stream.
public func actionFilterMain() {
  let start = FilterOptions(now: .now())
  let options = FilterOptions.table.parseOrExit(start)
  let diagnostics = Diagnostics(program: "action-filter")
  do {
    switch options.mode {
    case .select:
      var run = FilterRun(options, diagnostics) {
        try? FilterOptions.table.parse(Process.arguments, start)
      }
      Process.exit(try run.run())
    case .pack:
      try pack(options.files[0], to: RecordWriter())
      Process.exit(.success)
    case .contents: Process.exit(try Contents.list(options, diagnostics))
    }
  } catch let failure as Failure where options.mode == .pack {
    let file = options.files[0]
    diagnostics.fail("\(file == "-" ? "standard input" : file): \(failure.reason)")
  } catch let failure as WriteFailure {
    diagnostics.fail(writing: failure)
  } catch {
    diagnostics.fail("\(error)")
  }
}
