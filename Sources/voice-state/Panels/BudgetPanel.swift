import Core
import Screen

/// How much of the talk the models are given: turns sent of those that there
/// are and of those that may be sent, and characters.
struct BudgetPanel: Panel {
  static let name = "budget"
  static let title = "Context budget"
  static let leastWidth = 80

  private let model: VoiceModelContext

  init?(_ session: VoiceSession, at now: Timestamp) {
    guard let model = session.conversation?.modelContext,
      model.generation != nil || model.decider != nil || (model.trackedTurns ?? 0) > 0
        || (model.trackedTranscriptTurns ?? 0) > 0
    else { return nil }
    self.model = model
  }

  func lines(width: Int) -> [Line] {
    let cells = min(max(width / 4, 6), 24)
    var grid = Grid([.left, .left, .giving])
    if let share = model.generation { grid.add(row("generation", share, cells)) }
    if let share = model.decider { grid.add(row("classifier", share, cells)) }
    if let tracked = model.trackedTurns {
      var text = Line("\(tracked)")
      if let limit = model.trackedTurnLimit { text.add(" of \(limit)") }
      text.add(" turns")
      grid.add([
        Line("tracked", .dim),
        Bar.gauge(Double(tracked), of: Double(model.trackedTurnLimit ?? tracked), cells: cells),
        text,
      ])
    }
    let label = "characters  "
    let facts = characters.lines(width: max(width - label.utf8.count, 1))
    return grid.lines(width: width)
      + facts.enumerated().map { index, facts in
        var line = index == 0 ? Line(label, .dim) : Line(Fit.spaces(label.utf8.count))
        line.add(facts)
        return line.cut(to: width)
      }
  }

  /// Green, and a warning when there are turns that may not be sent.
  private func row(_ name: String, _ share: VoiceModelContext.Share, _ cells: Int) -> [Line] {
    let available = share.availableTurns ?? 0
    let sent = share.sentTurns ?? min(available, share.maxTurns ?? available)
    var text = Line("\(sent)")
    if let available = share.availableTurns { text.add(" of \(available)") }
    text.add(" turns")
    if let most = share.maxTurns { text.add(", \(most) at most", .dim) }
    let most = share.maxTurns ?? available
    let style = Style(available > most ? Palette.warning : Palette.positive)
    return [
      Line(name, .dim), Bar.gauge(Double(sent), of: Double(most), cells: cells, style), text,
    ]
  }

  private var characters: FactFlow {
    var facts = FactFlow()
    func add(_ count: Int?, _ what: String) {
      facts.add(count.map { "\(Amount.count(Double($0))) \(what)" })
    }
    add(model.generation?.contextChars, "context")
    add(model.generation?.transcriptChars, "transcript")
    add(model.decider?.promptHistoryChars, "classifier")
    facts.add(model.trackedTranscriptTurns.map { PanelText.count($0, "turn") + " kept" }, .dim)
    return facts
  }
}
