import Agent
import Core
import Screen

struct ContextPanel: Panel {
  static let name = "context", title = "Generation context"
  static let leastWidth = 80

  private let context: VoiceGenerationContext, session: VoiceSession, now: Now

  init?(_ session: VoiceSession, at now: Now) {
    guard let context = session.lastGenerationContext else { return nil }
    (self.context, self.session, self.now) = (context, session, now)
  }

  var note: Line { Line(Age.text(context.capturedAt, at: now) ?? "", .dim) }

  @Lines func lines(width: Int) -> [Line] {
    question(width)
    row("turn", width) { turn }
    row("model", width) { model }
    row("context", width) { given }
    row("roster", width, text: roster, most: 2)
    row("facts", width) { facts }
    row("memory", width) { memory }
    row("tools", width) { tools }
    row("time", width) { time }
    for note in (context.conversationContext?.streamWatchNotes ?? []).suffix(2).reversed() {
      row("screen", width, text: Untrusted.text(note), most: 2)
    }
  }

  private func question(_ width: Int) -> [Line] {
    let name = Untrusted.text(context.speakerName).map { Fit.truncate($0, to: 24) + " " } ?? ""
    guard let text = context.incomingTranscript else {
      return name.isEmpty ? [] : [Line(name, .bold).cut(to: width)]
    }
    return PanelText.paragraph("“\(text)”", lead: Line(name, .bold), width: width, most: 3)
  }

  private var roster: String? {
    let roster = context.participantRoster
    if roster.isEmpty { return nil }
    let names = roster.prefix(40).compactMap { Untrusted.text($0) }
    return "\(roster.count): \(names.joined(separator: ", "))"
  }

  @Lines private var turn: [Line] {
    let talk = context.conversationContext
    let share = talk?.confidence.flatMap { (0...1).contains($0) ? $0 * 100 : nil }
    if let isDirect = context.directAddressed {
      Line(isDirect ? "direct" : "overheard", isDirect ? .positive : .dim)
    }
    if context.isEagerTurn == true { "eager".styled(.warning) }
    Untrusted.words(context.source)
    Untrusted.words(context.mode)?.dim
    Untrusted.text(talk?.attentionMode)
    if let target = Untrusted.text(talk?.talkingTo) {
      let percent = share.map { " \(Amount.fixed($0, 0))%" } ?? ""
      fact("to", (target == "ME" ? "the bot" : target) + percent)
    }
  }

  @Lines private var model: [Line] {
    if let config = context.llmConfig {
      Untrusted.text(config.model)
      Untrusted.text(config.provider)?.dim
      if let temperature = config.temperature, abs(temperature) < 1000 {
        fact("temperature", Amount.fixed(temperature, 1))
      }
      config.maxOutputTokens.map { "\($0) tokens at most" }
    }
  }

  /// How much the model was given of each kind.
  @Lines private var given: [Line] {
    let messages = context.contextMessages
    let notes = context.durableNotes == 0 ? session.durableNotes : context.durableNotes
    let moves = context.membershipEvents.count
    "\(PanelText.count(messages.count, "message")), \(Amount.bytes(messages.reduce(0, +)))"
    if notes > 0 { PanelText.count(notes, "note") }
    if moves > 0 { PanelText.count(moves, "coming or going", "comings and goings") }
    fact("reactivity", context.activityReactivity.map { String($0) })
  }

  /// The facts in the prompt by what they are for.
  @Lines private var facts: [Line] {
    let sent = context.memoryFacts
    let kinds = [
      (sent.userFacts, "of people"), (sent.relevantFacts, "relevant"),
      (sent.guidanceFacts, "guiding"), (sent.behavioralFacts, "on behaviour"),
    ]
    "\(sent.count) sent"
    for (count, kind) in kinds where count > 0 { "\(count) \(kind)" }
  }

  /// The facts that the session holds.
  @Lines private var memory: [Line] {
    if let memory = session.memory {
      "\(memory.userFacts + memory.selfFacts + memory.loreFacts) loaded"
      "\(memory.userFacts) of \(PanelText.count(memory.people, "person", "people"))"
      "\(memory.selfFacts) own"
      "\(memory.loreFacts) lore"
    }
  }

  private var tools: [Line] {
    context.tools.prefix(20).map { tool in
      Line {
        Line(tool.isOn ? "✓ " : "✗ ", tool.isOn ? Style.tool : .dim)
        Line(Untrusted.text(tool.name, or: "?"), tool.isOn ? .plain : .dim)
      }
    }
  }

  @Lines private var time: [Line] {
    if let timing = context.sessionTiming {
      let reason = timing.timeoutWarningActive == true ? timing.timeoutWarningReason ?? "" : nil
      left(timing.maxRemainingMs, "left", isNear: reason == "max_duration")
      left(timing.inactivityRemainingMs, "if silent", isNear: reason == "inactivity")
      reason.map { "! \(Untrusted.words($0) ?? "warned")".styled(.warning) }
    }
  }

  private func left(_ time: Double?, _ what: String, isNear: Bool) -> Line? {
    guard let time, abs(time) < 1e12 else { return nil }
    return Line("\(Amount.duration(time)) \(what)", isNear ? .warning : .plain)
  }
}

struct BudgetPanel: Panel {
  static let name = "budget", title = "Context budget"
  static let leastWidth = 80

  private let model: VoiceModelContext

  init?(_ session: VoiceSession, at now: Now) {
    guard let model = session.conversation?.modelContext,
      model.generation != nil || model.decider != nil || (model.trackedTurns ?? 0) > 0
        || (model.trackedTranscriptTurns ?? 0) > 0
    else { return nil }
    self.model = model
  }

  @Lines func lines(width: Int) -> [Line] {
    let cells = min(max(width / 4, 6), 24)
    let label = "characters  "
    Grid.lines([.left, .left, .giving], width: width) {
      [
        share("generation", model.generation, cells), share("classifier", model.decider, cells),
        tracked(cells),
      ].compactMap { $0 }
    }
    for (index, facts) in flow(width: max(width - label.utf8.count, 1), characters).enumerated() {
      Line {
        index == 0 ? label.dim : Line(Fit.spaces(label.utf8.count))
        facts
      }.cut(to: width)
    }
  }

  /// Green, and a warning when there are turns that may not be sent.
  private func share(_ name: String, _ share: VoiceModelContext.Share?, _ cells: Int) -> [Line]? {
    guard let share else { return nil }
    let available = share.availableTurns ?? 0
    let sent = share.sentTurns ?? min(available, share.maxTurns ?? available)
    let most = share.maxTurns ?? available
    let style: Style = available > most ? .warning : .positive
    let text = Line {
      "\(sent)"
      share.availableTurns.map { " of \($0)" }
      " turns"
      share.maxTurns.map { ", \($0) at most".dim }
    }
    return [name.dim, Bar.gauge(Double(sent), of: Double(most), cells: cells, style), text]
  }

  private func tracked(_ cells: Int) -> [Line]? {
    guard let tracked = model.trackedTurns else { return nil }
    let limit = model.trackedTurnLimit
    let text = Line {
      "\(tracked)"
      limit.map { " of \($0)" }
      " turns"
    }
    return [
      "tracked".dim, Bar.gauge(Double(tracked), of: Double(limit ?? tracked), cells: cells), text,
    ]
  }

  @Lines private func characters() -> [Line] {
    model.generation?.contextChars.map { "\(Amount.count(Double($0))) context" }
    model.generation?.transcriptChars.map { "\(Amount.count(Double($0))) transcript" }
    model.decider?.promptHistoryChars.map { "\(Amount.count(Double($0))) classifier" }
    model.trackedTranscriptTurns.map { (PanelText.count($0, "turn") + " kept").dim }
  }
}
