import Core

/// turn-format(1): turns as a person reads them.
public enum TurnFormat {
  /// Does what the command line asks for, and leaves.
  public static func main() {
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
