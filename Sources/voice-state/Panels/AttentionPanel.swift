import Agent
import Core
import Screen

/// Whom the bot listens to and why, and what it thinks of saying unasked.
struct AttentionPanel: Panel {
  static let name = "attention"
  static let title = "Attention"

  private let session: VoiceSession
  private let conversation: VoiceConversation
  private let now: Now

  init?(_ session: VoiceSession, at now: Now) {
    guard let conversation = session.conversation else { return nil }
    self.session = session
    self.conversation = conversation
    self.now = now
  }

  var note: Line {
    let isAwake = session.isAwake(at: now.time)
    let mode = Untrusted.text(conversation.wake?.attentionMode) ?? (isAwake ? "ACTIVE" : "AMBIENT")
    return Line(mode, isAwake ? Style(Palette.positive, bold: true) : .dim)
  }

  func lines(width: Int) -> [Line] {
    var rows = Labels(width: width)
    rows.add("wake", wake(cells: width >= 50 ? 20 : 8))
    rows.add("reply", Line(Age.text(conversation.lastAssistantReplyAt, at: now) ?? "none yet"))
    rows.add("address", address)
    rows.add("focus", focus)
    rows.add("talk", guesses)
    rows.add("music", musicWake)
    rows.add("thought", thought)
    if let pending = conversation.thoughtEngine?.pendingThought { rows.add("", pending) }
    return rows.lines
  }

  private func wake(cells: Int) -> Line {
    let window = conversation.wake?.windowMs ?? 35_000
    var line = Line()
    let last = [conversation.lastAssistantReplyAt, conversation.lastDirectAddressAt]
      .compactMap { $0 }.max()
    guard session.isAwake(at: now.time), let last, let gone = Age.seconds(from: last, to: now.time)
    else {
      line.add(session.isAwake(at: now.time) ? "awake" : "asleep", .dim)
      return line
    }
    let left = max(0, window - Double(gone) * 1000)
    line.add(Bar.gauge(left, of: window, cells: cells, Style(Palette.positive)))
    line.add(" " + Amount.duration(left))
    line.add(" of " + Amount.duration(window), .dim)
    return line
  }

  private var address: Line {
    guard let at = Age.text(conversation.lastDirectAddressAt, at: now) else {
      return Line("none yet")
    }
    var line = Line(at)
    if let who = Untrusted.person(conversation.lastDirectAddressUserId, in: session) {
      line.add(" by ", .dim)
      line.add(who)
    }
    return line
  }

  private var focus: Line {
    guard let focused = session.focusedSpeaker else { return Line() }
    var line = Line(
      Untrusted.person(focused.displayName ?? session.name(of: focused.userId), focused.userId))
    if let time = Age.span(from: focused.since, to: now.time) { line.add(" for " + time, .dim) }
    return line
  }

  private var guesses: FactFlow {
    var facts = FactFlow()
    for guess in conversation.addressingGuesses.suffix(3) {
      var line = Line(Untrusted.text(guess.speakerName, or: "someone"))
      line.add(" → ", .dim)
      line.add(guess.talkingTo == "ME" ? "the bot" : Untrusted.text(guess.talkingTo, or: "?"))
      if let confidence = guess.directedConfidence, confidence.magnitude <= 1 {
        line.add(" \(Amount.fixed(confidence * 100, 0))%", .dim)
      }
      facts.add(line)
    }
    return facts
  }

  private var musicWake: Line {
    guard let until = conversation.musicWakeLatchedUntil, until > now.time else { return Line() }
    var line = Line("held awake for " + (Age.clock(from: now.time, to: until) ?? ""))
    if let who = Untrusted.person(conversation.musicWakeLatchedByUserId, in: session) {
      line.add(" by ", .dim)
      line.add(who)
    }
    return line
  }

  private var thought: FactFlow {
    var facts = FactFlow()
    guard let engine = conversation.thoughtEngine else { return facts }
    facts.add(engine.busy == true ? "thinking" : "at rest", engine.busy == true ? .bold : .plain)
    if let next = Age.text(engine.nextAttemptAt, at: now) { facts.add("next", next) }
    if let last = Age.text(engine.lastAttemptAt, at: now) { facts.add("tried", last) }
    facts.add("spoke", Age.text(engine.lastSpokenAt, at: now) ?? "never")
    return facts
  }
}

extension Labels {
  /// A thought that waits: its words, and what was decided of it.
  fileprivate mutating func add(_ label: String, _ thought: VoiceThought) {
    guard let text = Untrusted.text(thought.text ?? thought.draftText) else { return }
    add(label, text: "“\(text)”", rows: 2)
    var facts = FactFlow()
    for word in [thought.status, thought.lastDecisionAction] {
      if let word { facts.add(Untrusted.words(word), .dim) }
    }
    if let reason = Untrusted.text(thought.lastDecisionReason) { facts.add(reason, .dim) }
    if let reason = Untrusted.text(thought.invalidationReason) {
      facts.add("overtaken: " + reason, .dim)
    }
    add("", facts)
  }
}
