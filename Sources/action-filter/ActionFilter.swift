import Core

/// action-filter(1): selects actions from the suite's record stream.
@main
enum ActionFilter {
  static func main() {
    let table = FilterOptions.table
    let parsed = table.parseOrExit()
    let diagnostics = Diagnostics(program: table.program)
    do throws(UsageError) {
      let settings = try FilterSettings(parsed, now: .now())
      var run = FilterRun(settings, diagnostics)
      do throws(WriteFailure) {
        Process.exit(try run.run())
      } catch {
        diagnostics.fail(writing: error)
      }
    } catch {
      diagnostics.usage(error.problem, table)
    }
  }
}
