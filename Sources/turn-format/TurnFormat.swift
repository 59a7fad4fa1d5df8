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
    if feed.hasFaults { Process.exit(.failure) }
    if feed.isMistaken {
      diagnostics.fail("no turns in the input: pipe it through turn-fold", .negative)
    }
    Process.exit(.success)
  }
}
