import CLibc
import Core
import Records

/// action-filter(1): selects actions from the suite's record stream.
public enum ActionFilter {
  /// Does what the command line asks for, and leaves.
  public static func main() {
    let start = FilterOptions(now: .now())
    let options = FilterOptions.table.parseOrExit(start)
    let diagnostics = Diagnostics(program: "action-filter")
    var run = FilterRun(options, diagnostics) {
      try? FilterOptions.table.parse(Process.arguments, start)
    }
    do {
      Process.exit(try run.run())
    } catch let failure as WriteFailure {
      diagnostics.fail(writing: failure)
    } catch {
      diagnostics.fail("\(error)")
    }
  }
}
