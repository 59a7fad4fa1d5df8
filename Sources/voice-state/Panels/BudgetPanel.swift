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
      grid.add([Line("tracked"), bar(tracked, of: model.trackedTurnLimit ?? tracked, cells), text])
    }
    return grid.lines(width: width) + characters.lines(width: width)
  }

  private func row(_ name: String, _ share: VoiceModelContext.Share, _ cells: Int) -> [Line] {
    let available = share.availableTurns ?? 0
    let sent = share.sentTurns ?? min(available, share.maxTurns ?? available)
    var text = Line("\(sent)")
    if let available = share.availableTurns { text.add(" of \(available)") }
    text.add(" turns")
    if let most = share.maxTurns { text.add(", \(most) at most", .dim) }
    return [Line(name), bar(sent, of: share.maxTurns ?? available, cells), text]
  }

  /// Green, and a warning when nothing more fits.
  private func bar(_ count: Int, of most: Int, _ cells: Int) -> Line {
    Bar.gauge(
      Double(count), of: Double(most), cells: cells,
      Style(count >= most && most > 0 ? Palette.warning : Palette.positive))
  }

  private var characters: FactFlow {
    var facts = FactFlow()
    func add(_ label: String, _ count: Int?) {
      facts.add(label, count.map { Amount.count(Double($0)) + " characters" })
    }
    add("context", model.generation?.contextChars)
    add("transcript", model.generation?.transcriptChars)
    add("classifier", model.decider?.promptHistoryChars)
    facts.add("transcript turns", model.trackedTranscriptTurns.map { String($0) })
    return facts
  }
}
