import Agent
import Core
import Records
import Screen

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
