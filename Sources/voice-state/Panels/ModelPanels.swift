import Agent
import Core
import Records
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

/// The prompts that the models were last given: how large, how old, made of
/// what. Their text is private and shown by `--prompt` alone.
struct PromptsPanel: Panel {
  static let name = "prompts", title = "Prompts"
  static let leastWidth = 80

  private let prompts: [(name: String, prompt: VoicePrompt)], now: Now

  init?(_ session: VoiceSession, at now: Now) {
    prompts = PromptName.allCases.dropFirst().compactMap { name in
      session.prompt(name).map { (name.rawValue, $0) }
    }
    self.now = now
    if prompts.isEmpty { return nil }
  }

  var note: Line {
    Amount.bytes(prompts.reduce(0) { $0 + $1.prompt.byteCount }).dim
  }

  @Lines func lines(width: Int) -> [Line] {
    let isWide = width >= 84
    let most = Double(prompts.map(\.prompt.byteCount).max() ?? 0)
    let colour = Style(Palette.colour(of: .llm))
    let rows = Grid.lines([.left, .right, .left, .right, .giving], width: width) {
      prompts.map { name, prompt in
        let size = Double(prompt.byteCount)
        return [
          Line(name), Line(Amount.bytes(prompt.byteCount)),
          Bar.gauge(size, of: most, cells: width >= 48 ? 12 : 6, colour),
          (Age.text(prompt.updatedAt, at: now) ?? "").dim, (isWide ? parts(prompt) : "").dim,
        ]
      }
    }
    for (row, prompt) in zip(rows, prompts) {
      row
      let parts = parts(prompt.prompt)
      if !isWide, !parts.isEmpty {
        PanelText.paragraph(parts, .dim, lead: Line("  "), width: width, most: 2)
      }
    }
  }

  /// What a prompt is made of: `system 1.2 KB, user 84 B, 2 follow-ups, 3 tools`.
  private func parts(_ prompt: VoicePrompt) -> String {
    let follow = max(prompt.followupSteps ?? 0, prompt.followupUserPrompts.count)
    let tools = prompt.tools.count
    let tiers = prompt.promptTiers
    let parts = [
      prompt.systemPrompt.isEmpty ? nil : "system \(Amount.bytes(prompt.systemPrompt.byteCount))",
      prompt.initialUserPrompt.isEmpty
        ? nil : "user \(Amount.bytes(prompt.initialUserPrompt.byteCount))",
      follow > 0 ? PanelText.count(follow, "follow-up") : nil,
      tools > 0 ? PanelText.count(tools, "tool") : nil,
      tiers.isEmpty ? nil : "\(tiers.count { $0 }) of \(tiers.count) tiers",
    ]
    return parts.compactMap { $0 }.joined(separator: ", ")
  }
}

/// Which prompt `--prompt` asks for, in the order in which a turn meets them.
enum PromptName: String, CaseIterable {
  /// Another word for the standing instructions.
  case system
  case instructions, classifier, generation, bridge
}

extension VoiceSession {
  func prompt(_ name: PromptName) -> VoicePrompt? {
    switch name {
    case .system, .instructions: promptState?.instructions
    case .classifier: promptState?.classifier
    case .generation: promptState?.generation
    case .bridge: promptState?.bridge
    }
  }
}

extension VoicePrompt {
  /// All texts of a prompt as they were sent, each below a line with its name and
  /// size, ending with a line end; tools by name and description.
  ///
  /// The text is raw: for a terminal it must go through `Plain.lines`.
  var whole: String {
    var out = ""
    func section(_ title: String, _ text: VoiceText) {
      guard !text.isEmpty else { return }
      let whole = text.whole
      out += "== \(title) (\(Amount.bytes(text.byteCount)))\n\(whole)"
      if !whole.hasSuffix("\n") { out += "\n" }
    }
    section("system", systemPrompt)
    section("user", initialUserPrompt)
    for (index, text) in followupUserPrompts.enumerated() {
      section("follow-up \(index + 1)", text)
    }
    if !tools.isEmpty {
      out += "== tools (\(tools.count))\n"
      for tool in tools {
        out += tool.name ?? "(no name)"
        if let description = tool.description { out += ": \(description)" }
        out += "\n"
      }
    }
    return out
  }
}

struct LatencyPanel: Panel {
  static let name = "latency", title = "Latency"

  /// A total above this is slow, whatever is usual.
  static let slowTotal = 2000.0
  static let stages = ["to ASR", "to gen", "to reply", "to audio", "total"]
  private static let most = 8

  enum Grade {
    case good, ok, bad

    /// Without an average everything is good; a total warns above two seconds.
    init(_ value: Double, average: Double?, isTotal: Bool) {
      let ratio = average.flatMap { $0 > 0 ? value / $0 : nil } ?? 1
      self = ratio <= 1.3 ? .good : ratio <= 2 ? .ok : .bad
      if self == .good, isTotal, value > LatencyPanel.slowTotal { self = .ok }
    }

    var style: Style { self == .good ? .positive : self == .ok ? .warning : .error }

    /// One cell, so that no colour is needed.
    var mark: String { self == .good ? " " : self == .ok ? "+" : "!" }
  }

  private let latency: VoiceLatency
  private let turns: [VoiceLatency.Turn]
  private let now: Now

  init?(_ session: VoiceSession, at now: Now) {
    guard let latency = session.latency else { return nil }
    turns = latency.recentTurns.filter { !$0.stages.isUnknown }
    if turns.isEmpty, latency.averages.isUnknown { return nil }
    (self.latency, self.now) = (latency, now)
  }

  var note: Line {
    Line {
      let last = turns.first?.stages.totalMs
      if let last {
        let slow = last > Self.slowTotal ? " slow" : ""
        ("last " + Amount.duration(last) + slow).styled(grade(last, 4).style)
      }
      latency.medians[4].map { ((last == nil ? "" : ", ") + "median " + Amount.duration($0)).dim }
    }
  }

  func lines(width: Int) -> [Line] {
    // Narrower than this, the bars of a table would say nothing.
    width >= 60 ? table(width) : waterfall(width)
  }

  private var shown: ArraySlice<VoiceLatency.Turn> { turns.prefix(Self.most) }

  private func grade(_ value: Double, _ stage: Int) -> Grade {
    Grade(value, average: latency.averages.all[stage], isTotal: stage == 4)
  }

  private func age(_ turn: VoiceLatency.Turn) -> String { Age.text(turn.at, at: now) ?? "-" }

  /// The cells of the widest age; `average` has seven.
  private var leadCells: Int { shown.map { CellWidth.of(age($0)) }.reduce(7, max) }

  private var most: (stage: Double, total: Double) {
    let all = shown.map(\.stages.all) + [latency.averages.all]
    return (
      all.flatMap { $0.prefix(4) }.compactMap { $0 }.max() ?? 0,
      all.compactMap { $0[4] }.max() ?? 0
    )
  }

  /// An age in each row, and for each stage a bar and a number that stand below those of the
  /// other rows.
  private func table(_ width: Int) -> [Line] {
    let leadCells = leadCells
    let most = most
    // A blank before each stage and the cell of a mark after it.
    let widths = Columns.widths(5, width: width - leadCells - 10, gap: 0)
    var header = Line(Fit.spaces(leadCells))
    for (name, cells) in zip(Self.stages, widths) {
      header.add(" " + Fit.padStart(Fit.truncate(name, to: cells), to: cells) + " ", .dim)
    }
    func row(_ lead: String, _ values: [Double?], isGraded: Bool = false) -> Line {
      var line = Line(Fit.padStart(lead, to: leadCells), .dim)
      for (stage, (value, cells)) in zip(values, widths).enumerated() {
        line.add(" ")
        guard let value else {
          line.add(Fit.padStart("-", to: cells) + " ", .dim)
          continue
        }
        let grade = isGraded ? self.grade(value, stage) : nil
        let style = grade?.style ?? .dim
        let number = Fit.truncate(Amount.duration(value), to: cells)
        let room = cells - max(5, CellWidth.of(number)) - 1
        let bar = Bar.text(value, of: stage == 4 ? most.total : most.stage, cells: room)
        line.add(bar, style)
        line.add(Fit.spaces(cells - CellWidth.of(bar) - CellWidth.of(number)))
        line.add(number, style)
        line.add(grade?.mark ?? " ", style)
      }
      return line.cut(to: width)
    }
    return [header.cut(to: width)]
      + shown.map { row(age($0), $0.stages.all, isGraded: true) }
      + [row("median", latency.medians), row("average", latency.averages.all)]
      + legend(width, shown.map { ($0, 0) })
  }

  /// For narrow screens: the stages of the last answer below each other, each beginning where the
  /// one before ended, then the totals of the answers before.
  private func waterfall(_ width: Int) -> [Line] {
    let leadCells = leadCells
    let most = max(most.stage, most.total)
    // Narrower than this, age and stage share a column.
    let isTight = width < 32
    func rows(
      _ lead: String, _ values: [Double?], from first: Int = 0, isGraded: Bool = false
    ) -> [Line] {
      var start = 0.0
      return (first..<values.count).map { stage in
        let value = values[stage]
        let isTotal = stage == 4
        let grade = isGraded ? value.map { self.grade($0, stage) } : nil
        // In a shared column the age stands at the total, where it is looked for.
        let hasLead = isTight ? isTotal : stage == first
        var line = Line()
        if !isTight { line.add(Fit.padEnd(hasLead ? lead + " " : "", to: leadCells + 1), .dim) }
        line.add(Fit.padEnd(isTight && hasLead ? lead + " " : Self.stages[stage], to: 9), .dim)
        let style = grade?.style ?? .plain
        line.add(
          Fit.padStart(value.map { Amount.duration($0) } ?? "-", to: 6),
          value == nil ? .dim : style)
        line.add((grade?.mark ?? " ") + " ", style)
        let room = width - line.cells
        if room > 0, most > 0, let value, value > 0 {
          // The last cell is kept for a bar that begins at the end.
          let place = isTotal ? 0 : Int(min(start / most, 1) * Double(room))
          let skipped = min(place, room - 1)
          line.add(Fit.spaces(skipped))
          let bar = Bar.text(value, of: most, cells: room).prefix(room - skipped)
          line.add(String(bar), grade?.style ?? .dim)
        }
        start += max(value ?? 0, 0)
        return line.cut(to: width)
      }
    }
    let firsts = shown.indices.map { (shown[$0], $0 == shown.startIndex ? 0 : 4) }
    return firsts.flatMap { rows(age($0), $0.stages.all, from: $1, isGraded: true) }
      + rows("median", latency.medians) + rows("average", latency.averages.all, from: 4)
      + legend(width, firsts)
  }

  /// What the marks say, where there are any in these turns from a stage on.
  private func legend(_ width: Int, _ turns: [(VoiceLatency.Turn, first: Int)]) -> [Line] {
    let hasMarks = turns.contains { turn, first in
      turn.stages.all.enumerated().contains { stage, value in
        stage >= first && value.map { grade($0, stage) != .good } == true
      }
    }
    let text =
      width >= 60
      ? "+ over 1.3 times its average, ! over twice; total + over 2s"
      : "+ over 1.3x, ! over 2x its average"
    return hasMarks ? [Line(text, .dim).cut(to: width)] : []
  }
}

struct RealtimePanel: Panel {
  static let name = "realtime", title = "Realtime provider"

  private static let most = 4

  private let realtime: VoiceRealtime, state: VoiceRealtimeState?, now: Now

  init?(_ session: VoiceSession, at now: Now) {
    guard let realtime = session.realtime else { return nil }
    (self.realtime, state, self.now) = (realtime, realtime.state, now)
  }

  var note: Line {
    switch state?.connected {
    case true: "connected".styled(.positive)
    case false: "disconnected".styled(.error)
    default: "no link".dim
    }
  }

  @Lines func lines(width: Int) -> [Line] {
    // While the link is up, the last error and close are history.
    let style: Style = state?.connected == true ? .dim : .error
    let close = [state?.lastCloseCode.map { String($0) }, Untrusted.text(state?.lastCloseReason)]
    let closed = close.compactMap { $0 }.joined(separator: " ")
    flow(width: width) { link }
    row("error", width, text: Untrusted.text(state?.lastError), style, most: 3)
    row("closed", width, text: closed, style, most: 2)
    row("turns", width) { turns }
    row("sound", width) {
      realtime.inputSampleRateHz.map { Self.kilohertz($0) + " in" }
      realtime.outputSampleRateHz.map { Self.kilohertz($0) + " out" }
      state?.utteranceCount.map { PanelText.count($0, "utterance") }
    }
    row("link", width) {
      fact("heard", Untrusted.text(state?.lastEventType))
      Untrusted.text(state?.model)
      Untrusted.text(state?.sessionId)?.dim
    }
    sent(width)
  }

  @Lines private var link: [Line] {
    let isActive = state?.activeResponseId != nil || state?.pendingResponseActive == true
    Line {
      switch state?.connected {
      case true: "● ".styled(.positive)
      case false: "✗ ".styled(.error)
      default: "○ ".dim
      }
      (Untrusted.words(realtime.provider) ?? "unknown").styled(.bold)
    }
    if state?.connected == true { fact("for", Age.clock(from: state?.connectedAt, to: now.time)) }
    fact("last event", Age.text(state?.lastEventAt, at: now))
    fact("response", Untrusted.words(state?.activeResponseStatus) ?? (isActive ? "active" : nil))
    if state?.setupComplete == false { "setting up".styled(.warning) }
  }

  /// What waits and what was overtaken; a warning where the dashboard warns.
  @Lines private var turns: [Line] {
    let pending = realtime.pendingTurns
    "\(pending) pending".styled(pending > 2 ? .warning : .plain)
    realtime.replySuperseded.map { "\($0) superseded".styled($0 > 0 ? .warning : .plain) }
    realtime.recentVoiceTurns.map { "\($0) recent" }
    if realtime.drainActive == true { "draining" }
    if realtime.coalesceActive == true { "coalescing" }
  }

  /// A rate without needless zeros: `24 kHz`, `44.1 kHz`.
  static func kilohertz(_ hertz: Int) -> String {
    let text = Amount.fixed(Double(hertz) / 1000, 1)
    return (text.hasSuffix(".0") ? String(text.dropLast(2)) : text) + " kHz"
  }

  /// What was sent to the provider, newest first.
  private func sent(_ width: Int) -> [Line] {
    var events = (state?.recentOutboundEvents ?? []).suffix(Self.most).map { ($0.at, $0.type) }
    if events.isEmpty, let type = state?.lastOutboundEventType {
      events = [(state?.lastOutboundEventAt, type)]
    }
    return events.reversed().map { at, type in
      Line {
        PanelText.age(at, now)
        "  → ".dim
        Untrusted.text(type, or: "?")
      }.cut(to: width)
    }
  }
}

struct ASRPanel: Panel {
  static let name = "asr", title = "Speech recognition"

  private static let most = 40

  private let recognisers: [(name: String, asr: VoiceASRSession)]
  private let batch: VoiceBatchASR?
  private let now: Now

  init?(_ session: VoiceSession, at now: Now) {
    var recognisers = session.asrSessions.prefix(Self.most).map { asr in
      (Untrusted.person(asr.displayName, asr.userId, in: session), asr)
    }
    if let shared = session.sharedAsrSession, shared.connected == true || recognisers.isEmpty {
      recognisers.append(("everybody", shared))
    }
    (self.recognisers, batch, self.now) = (recognisers, session.batchAsr, now)
    if recognisers.isEmpty && batch == nil { return nil }
  }

  var note: Line {
    let up = recognisers.count { $0.asr.connected == true }
    return Line("\(up) of \(recognisers.count) up", up > 0 ? .plain : .dim)
  }

  @Lines func lines(width: Int) -> [Line] {
    let isWide = width >= 56
    let rows = Grid.lines([.giving, .left, .left, .right, .left], width: width) {
      recognisers.map { name, asr in
        [head(name, asr), phase(asr)] + idle(asr, cells: isWide ? 12 : 6)
          + [isWide ? pending(asr) : Line()]
      }
    }
    for (row, recogniser) in zip(rows, recognisers) {
      row
      if let text = recogniser.asr.utterance?.partialText {
        PanelText.paragraph("“\(text)”", .dim, lead: Line("  "), width: width, indent: 3, most: 2)
      }
      flow(width: width, indent: 2) {
        if isWide { facts(recogniser.asr) } else { pending(recogniser.asr) }
      }
    }
    row("model", width) { model }
    row("files", width) {
      if let batch, batch.pendingTurns > 0 || batch.contextMessages != nil {
        PanelText.count(batch.pendingTurns, "turn waits", "turns wait")
          .styled(batch.pendingTurns > 2 ? .warning : .plain)
        batch.contextMessages.map { PanelText.count($0, "message") + " of context" }
      }
    }
  }

  private func head(_ name: String, _ asr: VoiceASRSession) -> Line {
    let isUp = asr.connected == true
    return Line {
      Line(isUp ? "● " : "○ ", isUp ? .positive : .dim)
      Line(Fit.truncate(name, to: 24), isUp ? .plain : .dim)
    }
  }

  private func phase(_ asr: VoiceASRSession) -> Line {
    let words = Untrusted.words(asr.phase) ?? (asr.connected == true ? "connected" : "off")
    let phase = Fit.truncate(words, to: 12)
    switch asr.phase {
    case "closing", "connecting": return Line(phase, .warning)
    case "idle", nil: return Line(phase, .dim)
    default: return Line(phase, Style(Palette.colour(of: .asr)))
    }
  }

  /// How long nothing was heard, and a gauge of it: when it is full, the
  /// recogniser is closed.
  private func idle(_ asr: VoiceASRSession, cells: Int) -> [Line] {
    guard let idle = asr.idleMs, idle >= 0 else { return [Line(), Line()] }
    let most = asr.idleTtlMs ?? 60_000
    let isSoon = asr.connected == true && idle > most * 0.75
    let style: Style =
      asr.connected != true ? .dim : isSoon ? .warning : Style(Palette.colour(of: .asr))
    return [
      Bar.gauge(idle, of: most, cells: cells, style),
      Line(Amount.duration(idle), isSoon ? style : .dim),
    ]
  }

  private func pending(_ asr: VoiceASRSession) -> Line {
    let chunks = asr.pendingAudioChunks ?? 0
    let bytes = asr.pendingAudioBytes ?? 0
    guard chunks > 0 || bytes > 0 else { return Line() }
    return Line("\(PanelText.count(chunks, "chunk")), \(Amount.bytes(bytes))", .warning)
  }

  private var model: String? {
    let models = Set(recognisers.compactMap { $0.asr.model })
    return models.count == 1 ? Untrusted.text(models.first) : nil
  }

  @Lines private func facts(_ asr: VoiceASRSession) -> [Line] {
    if let final = asr.utterance?.finalSegments, final > 0 {
      PanelText.count(final, "final segment").dim
    }
    if let bytes = asr.utterance?.bytesSent, bytes > 0 { (Amount.bytes(bytes) + " sent").dim }
    let heard = Age.text(asr.lastAudioAt, at: now)
    let wrote = Age.text(asr.lastTranscriptAt, at: now)
    heard.map { "heard \($0)".dim }
    if wrote != heard { wrote.map { "wrote \($0)".dim } }
    if model == nil { Untrusted.text(asr.model)?.dim }
  }
}
