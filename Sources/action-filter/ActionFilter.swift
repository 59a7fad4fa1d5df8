import Core

/// action-filter(1): selects actions from the suite's record stream.
@main
enum ActionFilter {
  static func main() {
    let options = FilterOptions.table.parseOrExit(FilterOptions(now: .now()))
    let diagnostics = Diagnostics(program: "action-filter")
    var run = FilterRun(options, diagnostics)
    do {
      Process.exit(try run.run())
    } catch let failure as WriteFailure {
      diagnostics.fail(writing: failure)
    } catch {
      diagnostics.fail("\(error)")
    }
  }
}
