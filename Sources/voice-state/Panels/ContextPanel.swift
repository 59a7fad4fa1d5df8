import Agent
import Core
import Screen

/// What the answering model knew when it last made an answer.
struct ContextPanel: Panel {
  static let name = "context"
  static let title = "Generation context"
  static let leastWidth = 80

  private let context: VoiceGenerationContext
  private let session: VoiceSession
  private let now: Now

  init?(_ session: VoiceSession, at now: Now) {
    guard let context = session.lastGenerationContext else { return nil }
    self.context = context
    self.session = session
    self.now = now
  }

  var note: Line { Line(Age.text(context.capturedAt, at: now) ?? "", .dim) }

  func lines(width: Int) -> [Line] {
    var rows = Labels(width: width)
    rows.add("turn", turn)
    rows.add("model", model)
    rows.add("context", given)
    if !context.participantRoster.isEmpty {
      let names = context.participantRoster.prefix(40).compactMap { Untrusted.text($0) }
      rows.add(
        "roster", text: "\(context.participantRoster.count): \(names.joined(separator: ", "))",
        rows: 2)
    }
    rows.add("facts", facts)
    rows.add("memory", memory)
    rows.add("tools", tools)
    rows.add("time", time)
    for note in (context.conversationContext?.streamWatchNotes ?? []).suffix(2).reversed() {
      if let note = Untrusted.text(note) { rows.add("screen", text: note, rows: 2) }
    }
    return question(width) + rows.lines
  }

  private func question(_ width: Int) -> [Line] {
    let name = Untrusted.text(context.speakerName).map { Fit.truncate($0, to: 24) + " " } ?? ""
    guard let text = context.incomingTranscript else {
      return name.isEmpty ? [] : [Line(name, .bold).cut(to: width)]
    }
    return PanelText.paragraph("“\(text)”", lead: Line(name, .bold), width: width, most: 3)
  }

  private var turn: FactFlow {
    var facts = FactFlow()
    if let isDirect = context.directAddressed {
      facts.add(isDirect ? "direct" : "overheard", isDirect ? Style(Palette.positive) : .dim)
    }
    if context.isEagerTurn == true { facts.add("eager", Style(Palette.warning)) }
    facts.add(Untrusted.words(context.source))
    facts.add(Untrusted.words(context.mode), .dim)
    let talk = context.conversationContext
    facts.add(Untrusted.text(talk?.attentionMode))
    if let target = Untrusted.text(talk?.talkingTo) {
      let share = talk?.confidence.flatMap { (0...1).contains($0) ? $0 * 100 : nil }
      facts.add(
        "to",
        (target == "ME" ? "the bot" : target) + (share.map { " \(Amount.fixed($0, 0))%" } ?? ""))
    }
    return facts
  }

  private var model: FactFlow {
    var facts = FactFlow()
    guard let config = context.llmConfig else { return facts }
    facts.add(Untrusted.text(config.model))
    facts.add(Untrusted.text(config.provider), .dim)
    if let temperature = config.temperature, abs(temperature) < 1000 {
      facts.add("temperature", Amount.fixed(temperature, 1))
    }
    facts.add(config.maxOutputTokens.map { "\($0) tokens at most" })
    return facts
  }

  /// How much the model was given of each kind.
  private var given: FactFlow {
    var facts = FactFlow()
    let count = context.contextMessages.count
    let size = context.contextMessages.reduce(0, +)
    facts.add("\(PanelText.count(count, "message")), \(Amount.bytes(size))")
    let notes = context.durableNotes == 0 ? session.durableNotes : context.durableNotes
    if notes > 0 { facts.add(PanelText.count(notes, "note")) }
    if !context.membershipEvents.isEmpty {
      facts.add(
        PanelText.count(context.membershipEvents.count, "coming or going", "comings and goings"))
    }
    facts.add("reactivity", context.activityReactivity.map { String($0) })
    return facts
  }

  /// The facts in the prompt by what they are for.
  private var facts: FactFlow {
    var facts = FactFlow()
    let sent = context.memoryFacts
    facts.add("\(sent.count) sent")
    let kinds = [
      (sent.userFacts, "of people"), (sent.relevantFacts, "relevant"),
      (sent.guidanceFacts, "guiding"), (sent.behavioralFacts, "on behaviour"),
    ]
    for (count, kind) in kinds where count > 0 { facts.add("\(count) \(kind)") }
    return facts
  }

  /// The facts that the session holds.
  private var memory: FactFlow {
    var facts = FactFlow()
    guard let memory = session.memory else { return facts }
    facts.add("\(memory.userFacts + memory.selfFacts + memory.loreFacts) loaded")
    facts.add("\(memory.userFacts) of \(PanelText.count(memory.people, "person", "people"))")
    facts.add("\(memory.selfFacts) own")
    facts.add("\(memory.loreFacts) lore")
    return facts
  }

  private var tools: FactFlow {
    var facts = FactFlow()
    for tool in context.tools.prefix(20) {
      var line = Line(tool.isOn ? "✓ " : "✗ ", tool.isOn ? Style(Palette.tool) : .dim)
      line.add(Untrusted.text(tool.name, or: "?"), tool.isOn ? .plain : .dim)
      facts.add(line)
    }
    return facts
  }

  private var time: FactFlow {
    var facts = FactFlow()
    guard let timing = context.sessionTiming else { return facts }
    let reason = timing.timeoutWarningActive == true ? timing.timeoutWarningReason ?? "" : nil
    func add(_ left: Double?, _ what: String, _ cause: String) {
      let style = reason == cause ? Style(Palette.warning) : .plain
      guard let left, abs(left) < 1e12 else { return }
      facts.add("\(Amount.duration(left)) \(what)", style)
    }
    add(timing.maxRemainingMs, "left", "max_duration")
    add(timing.inactivityRemainingMs, "if silent", "inactivity")
    if let reason {
      facts.add("! \(reason.isEmpty ? "warned" : Untrusted.words(reason))", Style(Palette.warning))
    }
    return facts
  }
}

/// How much of the talk the models are given: turns sent of those that there
/// are and of those that may be sent, and characters.
struct BudgetPanel: Panel {
  static let name = "budget"
  static let title = "Context budget"
  static let leastWidth = 80

  private let model: VoiceModelContext

  init?(_ session: VoiceSession, at now: Now) {
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
