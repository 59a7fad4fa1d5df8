import Core

@main
enum TurnFormat {
  static func main() {
    let options = TurnFormatOptions.table.parseOrExit(TurnFormatOptions())
    let diagnostics = Diagnostics(program: "turn-format")
    let feed = TurnFeed(options, diagnostics)
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
