import Agent
import Core
import Screen

/// What the bot sees of a shared screen, and how fresh that is.
struct ScreenPanel: Panel {
  static let name = "screen"
  static let title = "Screen watch"

  /// How many of the things seen are shown.
  private static let mostSeen = 5
  /// An active watch without a frame for so long is late.
  private static let late = Duration.seconds(30)

  private let watch: VoiceStreamWatch
  private let session: VoiceSession
  private let now: Now

  init?(_ session: VoiceSession, at now: Now) {
    guard let watch = session.streamWatch else { return nil }
    let isUnused =
      !watch.active && watch.lastFrameAt == nil && watch.latestFrameAt == nil
      && (watch.ingestedFrameCount ?? 0) == 0 && watch.visualFeed.isEmpty
      && watch.lastCommentaryNote == nil && watch.lastMemoryRecapText == nil
      && watch.notePayload?.notes.isEmpty != false
      && watch.nativeDiscord?.activeSharers.isEmpty != false
    if isUnused { return nil }
    self.watch = watch
    self.session = session
    self.now = now
  }

  var note: Line {
    watch.active ? Line("watching", Style(Palette.positive)) : Line("not watching", .dim)
  }

  func lines(width: Int) -> [Line] {
    var rows = Labels(width: width)
    rows.add("frames", frames)
    rows.add("notes", notes)
    var rest = Labels(width: width)
    rest.add("sharing", native)
    return who.lines(width: width) + rows.lines + seen(width)
      + remark("remark", watch.lastCommentaryNote, watch.lastCommentaryAt, width)
      + remark(
        watch.lastMemoryRecapDurableSaved == true ? "saved" : "recap",
        watch.lastMemoryRecapText, watch.lastMemoryRecapAt, width) + rest.lines
  }

  private var who: FactFlow {
    var facts = FactFlow()
    if let target = Untrusted.person(watch.targetUserId, in: session) {
      var line = Line(watch.active ? "● " : "○ ", watch.active ? Style(Palette.positive) : .dim)
      line.add(target, watch.active ? .bold : .dim)
      facts.add(line)
    }
    facts.add("asked by", Untrusted.person(watch.requestedByUserId, in: session))
    return facts
  }

  private var frames: FactFlow {
    var facts = FactFlow()
    facts.add(watch.ingestedFrameCount.map { String($0) })
    if let count = watch.acceptedFrameCountInWindow {
      let window = Age.seconds(from: watch.frameWindowStartedAt, to: now.time)
      facts.add("\(count) in \(window.map { Amount.duration(Double($0) * 1000) } ?? "the window")")
    }
    let last = watch.lastFrameAt ?? watch.latestFrameAt
    let isLate = watch.active && last.map { $0.adding(Self.late) < now.time } == true
    facts.add("last", Age.text(last, at: now), isLate ? Style(Palette.warning) : .plain)
    if let bytes = watch.latestFrameApproxBytes, bytes > 0 { facts.add(Amount.bytes(bytes)) }
    facts.add(Untrusted.text(watch.latestFrameMimeType), .dim)
    return facts
  }

  private var notes: FactFlow {
    var facts = FactFlow()
    if let count = watch.noteCount, count > 0 { facts.add("\(count)") }
    facts.add("last", Age.text(watch.lastNoteAt ?? watch.notePayload?.lastAt, at: now))
    facts.add(
      Untrusted.text(watch.lastNoteModel ?? watch.notePayload?.model)
        ?? Untrusted.text(watch.lastNoteProvider ?? watch.notePayload?.provider), .dim)
    return facts
  }

  /// The visual feed, newest first; without a feed the notes.
  private func seen(_ width: Int) -> [Line] {
    if watch.visualFeed.isEmpty {
      return (watch.notePayload?.notes ?? []).suffix(Self.mostSeen).reversed().flatMap {
        PanelText.paragraph($0, lead: Line("· ", .dim), width: width, most: 2)
      }
    }
    return watch.visualFeed.suffix(Self.mostSeen).reversed().flatMap { seen in
      guard let text = Untrusted.text(seen.text) else { return [Line]() }
      var lead = PanelText.age(seen.at, now)
      lead.add("  ")
      if let name = Untrusted.text(seen.speakerName) {
        lead.add(Fit.truncate(name, to: 20) + " ", .dim)
      }
      return PanelText.paragraph(text, lead: lead, width: width, indent: 9, most: 2)
    }
  }

  /// The bot's last remark, or what was kept of the share.
  private func remark(_ label: String, _ text: String?, _ at: Timestamp?, _ width: Int) -> [Line] {
    guard let text else { return [] }
    var lead = PanelText.age(at, now)
    lead.add("  \(label) ", .dim)
    return PanelText.paragraph(text, lead: lead, width: width, indent: 9, most: 2)
  }

  private var native: FactFlow {
    var facts = FactFlow()
    guard let native = watch.nativeDiscord else { return facts }
    for sharer in native.activeSharers.prefix(4) {
      var line = Line(Untrusted.person(sharer.displayName, sharer.userId))
      if let codec = Untrusted.text(sharer.codec) { line.add(" " + codec, .dim) }
      facts.add(line)
    }
    if native.decodeInFlight == true { facts.add("decoding", .dim) }
    if native.ffmpegAvailable == false { facts.add("✗ no ffmpeg", Style(Palette.error)) }
    if let reason = Untrusted.text(native.lastDecodeFailureReason) {
      let age = Age.text(native.lastDecodeFailureAt, at: now).map { " \($0)" } ?? ""
      facts.add(
        isDecoding ? "failed:" : "✗", reason + age, isDecoding ? .dim : Style(Palette.error))
    }
    return facts
  }

  /// Whether the last failure to decode is history: a success came after it.
  private var isDecoding: Bool {
    guard let success = watch.nativeDiscord?.lastDecodeSuccessAt else { return false }
    return watch.nativeDiscord?.lastDecodeFailureAt.map { $0 < success } ?? false
  }
}
