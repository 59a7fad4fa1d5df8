import CLibc
import Core

/// turn-format(1): turns as a person reads them.
public func turnFormatMain() {
  TurnFormatOptions.table.run(TurnFormatOptions()) { options, diagnostics in
    let feed = TurnFeed(options, diagnostics)
    try feed.run()
    if feed.hasFaults { return .failure }
    if feed.isEmpty, isatty(1) == 1 {
      diagnostics.tellPerson("no turns: turn-fold makes them of what agent-tail prints")
    }
    if !feed.isMistaken { return .success }
    diagnostics.fail("no turns in the input: pipe it through turn-fold", .negative)
  }
}
