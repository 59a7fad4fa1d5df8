import CLibc
import Core
import Screen

@main
enum ActionFormat {
  static func main() {
    let options = FormatOptions.table.parseOrExit(FormatOptions())
    let diagnostics = Diagnostics(program: "action-format")
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
