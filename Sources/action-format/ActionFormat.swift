import CLibc
import Core
import Screen

@main
enum ActionFormat {
  static func main() {
    let table = FormatOptions.table
    let diagnostics = Diagnostics(program: table.program)
    let options: FormatOptions
    do throws(UsageError) {
      options = try FormatOptions(table.parseOrExit())
    } catch {
      diagnostics.usage(error.problem, table)
    }
    let feed = Feed(options, diagnostics)
    do {
      try feed.run()
    } catch let failure as WriteFailure {
      feed.endIfSignalled()
      diagnostics.fail(writing: failure)
    } catch {
      diagnostics.fail("\(error)")
    }
    Process.exit(feed.hasFaults ? .failure : .success)
  }
}
