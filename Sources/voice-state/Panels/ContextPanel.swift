import Core
import Screen

/// What the answering model knew when it last made an answer.
struct ContextPanel: Panel {
  static let name = "context"
  static let title = "Generation context"
  static let leastWidth = 80

  private let context: VoiceGenerationContext
  private let session: VoiceSession
  private let now: Timestamp

  init?(_ session: VoiceSession, at now: Timestamp) {
    guard let context = session.lastGenerationContext else { return nil }
    self.context = context
    self.session = session
    self.now = now
  }

  var note: Line { Line(Age.text(context.capturedAt, at: now) ?? "", .dim) }

  func lines(width: Int) -> [Line] {
    question(width) + origin.lines(width: width) + model.lines(width: width)
      + given.lines(width: width) + roster(width) + memory.lines(width: width)
      + tools.lines(width: width) + time.lines(width: width) + stream(width)
  }

  private func question(_ width: Int) -> [Line] {
    let name = Outside.text(context.speakerName).map { Fit.truncate($0, to: 24) + " " } ?? ""
    guard let text = context.incomingTranscript else {
      return name.isEmpty ? [] : [Line(name, .bold).cut(to: width)]
    }
    return PanelText.paragraph("“\(text)”", lead: Line(name, .bold), width: width, most: 3)
  }

  private var origin: FactFlow {
    var facts = FactFlow()
    if let isDirect = context.directAddressed {
      facts.add(isDirect ? "direct" : "overheard", isDirect ? Style(Palette.positive) : .dim)
    }
    if context.isEagerTurn == true { facts.add("eager", Style(Palette.warning)) }
    facts.add("source", PanelText.words(context.source))
    facts.add("mode", PanelText.words(context.mode))
    let talk = context.conversationContext
    facts.add("attention", Outside.text(talk?.attentionMode))
    if let target = Outside.text(talk?.talkingTo) {
      let share = talk?.confidence.flatMap { (0...1).contains($0) ? $0 * 100 : nil }
      facts.add("to", target + (share.map { " \(Amount.fixed($0, 0))%" } ?? ""))
    }
    return facts
  }

  private var model: FactFlow {
    var facts = FactFlow()
    guard let config = context.llmConfig else { return facts }
    facts.add("model", Outside.text(config.model))
    facts.add("of", Outside.text(config.provider))
    if let temperature = config.temperature, abs(temperature) < 1000 {
      facts.add("temperature", Amount.fixed(temperature, 1))
    }
    facts.add("tokens", config.maxOutputTokens.map { Amount.count(Double($0)) + " at most" })
    return facts
  }

  /// How much the model was given of each kind.
  private var given: FactFlow {
    var facts = FactFlow()
    let count = context.contextMessages.count
    let size = context.contextMessages.reduce(0) { $0 + ($1.content?.utf8.count ?? 0) }
    facts.add("context", "\(PanelText.count(count, "message")), \(Amount.bytes(size))")
    let notes =
      context.durableContext.isEmpty ? session.durableContext.count : context.durableContext.count
    if notes > 0 { facts.add("notes", "\(notes)") }
    if !context.membershipEvents.isEmpty {
      facts.add("comings and goings", "\(context.membershipEvents.count)")
    }
    facts.add("reactivity", context.activityReactivity.map { String($0) })
    return facts
  }

  private func roster(_ width: Int) -> [Line] {
    guard !context.participantRoster.isEmpty else { return [] }
    let names = context.participantRoster.prefix(40).compactMap { Outside.text($0) }
    return PanelText.paragraph(
      names.joined(separator: ", "),
      lead: Line("roster \(context.participantRoster.count) ", .dim), width: width, most: 2)
  }

  /// The facts in the prompt by what they are for, and those that the session holds.
  private var memory: FactFlow {
    var facts = FactFlow()
    let sent = context.memoryFacts
    let kinds = [
      (sent.userFacts.count, "of people"), (sent.relevantFacts.count, "relevant"),
      (sent.guidanceFacts.count, "guiding"), (sent.behavioralFacts.count, "on behaviour"),
    ]
    facts.add("facts sent", "\(sent.count)")
    for (count, kind) in kinds where count > 0 { facts.add("\(count) \(kind)") }
    if let memory = session.memory {
      let people = memory.factProfiles.reduce(0) { $0 + $1.userFacts.count }
      let own = memory.guildFactProfile?.selfFacts.count ?? 0
      let lore = memory.guildFactProfile?.loreFacts.count ?? 0
      facts.add("loaded", "\(people + own + lore)")
      facts.add("\(people) of \(PanelText.count(memory.factProfiles.count, "person", "people"))")
      facts.add("\(own) own")
      facts.add("\(lore) lore")
    }
    return facts
  }

  private var tools: FactFlow {
    var facts = FactFlow()
    for tool in context.tools.prefix(20) {
      var line = Line(tool.isOn ? "✓ " : "✗ ", tool.isOn ? Style(Palette.tool) : .dim)
      line.add(Outside.text(tool.name, or: "?"), tool.isOn ? .plain : .dim)
      facts.add(line)
    }
    return facts
  }

  private var time: FactFlow {
    var facts = FactFlow()
    guard let timing = context.sessionTiming else { return facts }
    let reason = timing.timeoutWarningActive == true ? timing.timeoutWarningReason ?? "" : nil
    func add(_ label: String, _ left: Double?, _ cause: String) {
      let style = reason == cause ? Style(Palette.warning) : .plain
      facts.add(label, left.map { Amount.duration($0) }, style)
    }
    add("time left", timing.maxRemainingMs, "max_duration")
    add("if silent", timing.inactivityRemainingMs, "inactivity")
    if let reason {
      facts.add("! warned", PanelText.words(reason) ?? "yes", Style(Palette.warning))
    }
    return facts
  }

  /// The newest notes on the shared screen that the model was told.
  private func stream(_ width: Int) -> [Line] {
    (context.conversationContext?.streamWatchNotes ?? []).suffix(2).reversed().flatMap {
      PanelText.paragraph($0, lead: Line("screen ", .dim), width: width, most: 2)
    }
  }
}
