import Agent
import Core
import Screen

struct ScreenPanel: Panel {
  static let name = "screen", title = "Screen watch"

  private static let mostSeen = 5
  /// An active watch without a frame for so long is late.
  private static let late = Duration.seconds(30)

  private let watch: VoiceStreamWatch, session: VoiceSession, now: Now

  init?(_ session: VoiceSession, at now: Now) {
    guard let watch = session.streamWatch else { return nil }
    (self.watch, self.session, self.now) = (watch, session, now)
    let isUnused =
      !watch.active && watch.lastFrameAt == nil && watch.latestFrameAt == nil
      && (watch.ingestedFrameCount ?? 0) == 0 && watch.visualFeed.isEmpty
      && watch.lastCommentaryNote == nil && watch.lastMemoryRecapText == nil
      && watch.notePayload?.notes.isEmpty != false
      && watch.nativeDiscord?.activeSharers.isEmpty != false
    if isUnused { return nil }
  }

  var note: Line { watch.active ? "watching".styled(.positive) : "not watching".dim }

  @Lines func lines(width: Int) -> [Line] {
    let recap = watch.lastMemoryRecapDurableSaved == true ? "saved" : "recap"
    flow(width: width) { who }
    row("frames", width) { frames }
    row("notes", width) { notes }
    seen(width)
    remark("remark", watch.lastCommentaryNote, watch.lastCommentaryAt, width)
    remark(recap, watch.lastMemoryRecapText, watch.lastMemoryRecapAt, width)
    row("sharing", width) { native }
  }

  @Lines private var who: [Line] {
    if let target = Untrusted.person(watch.targetUserId, in: session) {
      Line {
        Line(watch.active ? "● " : "○ ", watch.active ? .positive : .dim)
        Line(target, watch.active ? .bold : .dim)
      }
    }
    fact("asked by", Untrusted.person(watch.requestedByUserId, in: session))
  }

  @Lines private var frames: [Line] {
    let last = watch.lastFrameAt ?? watch.latestFrameAt
    let isLate = watch.active && last.map { $0.adding(Self.late) < now.time } == true
    watch.ingestedFrameCount.map { String($0) }
    if let count = watch.acceptedFrameCountInWindow {
      let window = Age.seconds(from: watch.frameWindowStartedAt, to: now.time)
      "\(count) in \(window.map { Amount.duration(Double($0) * 1000) } ?? "the window")"
    }
    fact("last", Age.text(last, at: now), isLate ? .warning : .plain)
    if let bytes = watch.latestFrameApproxBytes, bytes > 0 { Amount.bytes(bytes) }
    Untrusted.text(watch.latestFrameMimeType)?.dim
  }

  @Lines private var notes: [Line] {
    let payload = watch.notePayload
    let model = Untrusted.text(watch.lastNoteModel ?? payload?.model)
    let provider = Untrusted.text(watch.lastNoteProvider ?? payload?.provider)
    if let count = watch.noteCount, count > 0 { "\(count)" }
    fact("last", Age.text(watch.lastNoteAt ?? payload?.lastAt, at: now))
    (model ?? provider)?.dim
  }

  /// The visual feed, newest first; without a feed the notes.
  private func seen(_ width: Int) -> [Line] {
    if watch.visualFeed.isEmpty {
      return (watch.notePayload?.notes ?? []).suffix(Self.mostSeen).reversed().flatMap {
        PanelText.paragraph($0, lead: "· ".dim, width: width, most: 2)
      }
    }
    return watch.visualFeed.suffix(Self.mostSeen).reversed().flatMap { seen in
      guard let text = Untrusted.text(seen.text) else { return [Line]() }
      let lead = Line {
        PanelText.age(seen.at, now)
        "  "
        Untrusted.text(seen.speakerName).map { (Fit.truncate($0, to: 20) + " ").dim }
      }
      return PanelText.paragraph(text, lead: lead, width: width, indent: 9, most: 2)
    }
  }

  private func remark(_ label: String, _ text: String?, _ at: Timestamp?, _ width: Int) -> [Line] {
    guard let text else { return [] }
    let lead = Line {
      PanelText.age(at, now)
      "  \(label) ".dim
    }
    return PanelText.paragraph(text, lead: lead, width: width, indent: 9, most: 2)
  }

  @Lines private var native: [Line] {
    if let native = watch.nativeDiscord {
      for sharer in native.activeSharers.prefix(4) {
        Line {
          Untrusted.person(sharer.displayName, sharer.userId)
          Untrusted.text(sharer.codec).map { " \($0)".dim }
        }
      }
      if native.decodeInFlight == true { "decoding".dim }
      if native.ffmpegAvailable == false { "✗ no ffmpeg".styled(.error) }
      failure(native)
    }
  }

  /// The last failure to decode: history when a success came after it.
  private func failure(_ native: VoiceNativeStream) -> Line? {
    guard let reason = Untrusted.text(native.lastDecodeFailureReason) else { return nil }
    let (success, failure) = (native.lastDecodeSuccessAt, native.lastDecodeFailureAt)
    let isPast = success.map { success in failure.map { $0 < success } ?? false } ?? false
    let age = Age.text(failure, at: now).map { " \($0)" } ?? ""
    return fact(isPast ? "failed:" : "✗", reason + age, isPast ? .dim : .error)
  }
}
