import Agent
import Core
import Records
import Screen

/// The recognisers of speech: who is heard, what is not yet a turn, what waits.
struct ASRPanel: Panel {
  static let name = "asr"
  static let title = "Speech recognition"

  private static let most = 40

  private let recognisers: [(name: String, asr: VoiceASRSession)]
  private let batch: VoiceBatchASR?
  private let now: Now

  init?(_ session: VoiceSession, at now: Now) {
    var recognisers = session.asrSessions.prefix(Self.most).map { asr in
      (Untrusted.person(asr.displayName ?? session.name(of: asr.userId), asr.userId), asr)
    }
    if let shared = session.sharedAsrSession, shared.connected == true || recognisers.isEmpty {
      recognisers.append(("everybody", shared))
    }
    guard !recognisers.isEmpty || session.batchAsr != nil else { return nil }
    self.recognisers = recognisers
    batch = session.batchAsr
    self.now = now
  }

  var note: Line {
    let up = recognisers.count { $0.asr.connected == true }
    return Line("\(up) of \(recognisers.count) up", up > 0 ? .plain : .dim)
  }

  func lines(width: Int) -> [Line] {
    let isWide = width >= 56
    var grid = Grid([.giving, .left, .left, .right, .left])
    for (name, asr) in recognisers {
      grid.add(
        [head(name, asr), phase(asr)] + idle(asr, cells: isWide ? 12 : 6)
          + [isWide ? pending(asr) : Line()])
    }
    var lines: [Line] = []
    for (row, recogniser) in zip(grid.lines(width: width), recognisers) {
      lines.append(row)
      if let text = recogniser.asr.utterance?.partialText {
        lines += PanelText.paragraph(
          "“\(text)”", .dim, lead: Line("  "), width: width, indent: 3, most: 2)
      }
      if isWide {
        lines += indented(facts(recogniser.asr), width)
      } else {
        var line = Line("  ")
        line.add(pending(recogniser.asr))
        if line.spans.count > 1 { lines.append(line.cut(to: width)) }
      }
    }
    var rows = Labels(width: width)
    if let model { rows.add("model", Line(model)) }
    rows.add("files", waiting)
    return lines + rows.lines
  }

  private func indented(_ facts: FactFlow, _ width: Int) -> [Line] {
    facts.lines(width: width - 2).map { line in
      var indented = Line("  ")
      indented.add(line)
      return indented
    }
  }

  private func head(_ name: String, _ asr: VoiceASRSession) -> Line {
    let isUp = asr.connected == true
    var line = Line(isUp ? "● " : "○ ", isUp ? Style(Palette.positive) : .dim)
    line.add(Fit.truncate(name, to: 24), isUp ? .plain : .dim)
    return line
  }

  private func phase(_ asr: VoiceASRSession) -> Line {
    let words = Untrusted.words(asr.phase) ?? (asr.connected == true ? "connected" : "off")
    let phase = Fit.truncate(words, to: 12)
    switch asr.phase {
    case "closing", "connecting": return Line(phase, Style(Palette.warning))
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
    let style =
      asr.connected != true
      ? Style.dim : Style(isSoon ? Palette.warning : Palette.colour(of: .asr))
    return [
      Bar.gauge(idle, of: most, cells: cells, style),
      Line(Amount.duration(idle), isSoon ? style : .dim),
    ]
  }

  private func pending(_ asr: VoiceASRSession) -> Line {
    let chunks = asr.pendingAudioChunks ?? 0
    let bytes = asr.pendingAudioBytes ?? 0
    guard chunks > 0 || bytes > 0 else { return Line() }
    return Line(
      "\(PanelText.count(chunks, "chunk")), \(Amount.bytes(bytes))",
      Style(Palette.warning))
  }

  /// The model of all recognisers, nil when they differ or do not say.
  private var model: String? {
    let models = Set(recognisers.compactMap { $0.asr.model })
    return models.count == 1 ? Untrusted.text(models.first) : nil
  }

  private func facts(_ asr: VoiceASRSession) -> FactFlow {
    var facts = FactFlow()
    if let final = asr.utterance?.finalSegments, final > 0 {
      facts.add(PanelText.count(final, "final segment"), .dim)
    }
    if let bytes = asr.utterance?.bytesSent, bytes > 0 {
      facts.add(Amount.bytes(bytes) + " sent", .dim)
    }
    let heard = Age.text(asr.lastAudioAt, at: now)
    let wrote = Age.text(asr.lastTranscriptAt, at: now)
    facts.add(heard.map { "heard \($0)" }, .dim)
    if wrote != heard { facts.add(wrote.map { "wrote \($0)" }, .dim) }
    if model == nil { facts.add(Untrusted.text(asr.model), .dim) }
    return facts
  }

  private var waiting: FactFlow {
    var facts = FactFlow()
    guard let batch, batch.pendingTurns > 0 || batch.contextMessages != nil else { return facts }
    facts.add(
      PanelText.count(batch.pendingTurns, "turn waits", "turns wait"),
      batch.pendingTurns > 2 ? Style(Palette.warning) : .plain)
    if let messages = batch.contextMessages {
      facts.add(PanelText.count(messages, "message") + " of context")
    }
    return facts
  }
}
