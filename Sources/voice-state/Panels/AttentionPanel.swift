import Agent
import Core
import Screen

struct AttentionPanel: Panel {
  static let name = "attention", title = "Attention"

  private let session: VoiceSession, conversation: VoiceConversation, now: Now

  init?(_ session: VoiceSession, at now: Now) {
    guard let conversation = session.conversation else { return nil }
    (self.session, self.conversation, self.now) = (session, conversation, now)
  }

  var note: Line {
    let isAwake = session.isAwake(at: now.time)
    let mode = Untrusted.text(conversation.wake?.attentionMode) ?? (isAwake ? "ACTIVE" : "AMBIENT")
    return Line(mode, isAwake ? Style(Palette.positive, bold: true) : .dim)
  }

  @Lines func lines(width: Int) -> [Line] {
    row("wake", width) { wake(cells: width >= 50 ? 20 : 8) }
    row("reply", width) { Age.text(conversation.lastAssistantReplyAt, at: now) ?? "none yet" }
    row("address", width) {
      if let at = Age.text(conversation.lastDirectAddressAt, at: now) {
        Line {
          at
          by(conversation.lastDirectAddressUserId)
        }
      } else {
        "none yet"
      }
    }
    row("focus", width) { focus }
    row("talk", width) { conversation.addressingGuesses.suffix(3).map(guess) }
    row("music", width) {
      if let until = conversation.musicWakeLatchedUntil, until > now.time {
        Line {
          "held awake for " + (Age.clock(from: now.time, to: until) ?? "")
          by(conversation.musicWakeLatchedByUserId)
        }
      }
    }
    row("thought", width) { thought }
    pending(width)
  }

  private func wake(cells: Int) -> Line {
    let window = conversation.wake?.windowMs ?? 35_000
    let isAwake = session.isAwake(at: now.time)
    let last = [conversation.lastAssistantReplyAt, conversation.lastDirectAddressAt]
      .compactMap { $0 }.max()
    guard isAwake, let last, let gone = Age.seconds(from: last, to: now.time) else {
      return Line(isAwake ? "awake" : "asleep", .dim)
    }
    let left = max(0, window - Double(gone) * 1000)
    return Line {
      Bar.gauge(left, of: window, cells: cells, .positive)
      " " + Amount.duration(left)
      (" of " + Amount.duration(window)).dim
    }
  }

  @Lines private func by(_ userId: String?) -> [Line] {
    if let who = Untrusted.person(userId, in: session) {
      " by ".dim
      who
    }
  }

  private var focus: Line? {
    guard let focused = session.focusedSpeaker else { return nil }
    return Line {
      Untrusted.person(focused.displayName, focused.userId, in: session)
      Age.span(from: focused.since, to: now.time).map { " for \($0)".dim }
    }
  }

  private func guess(_ guess: VoiceAddressingGuess) -> Line {
    Line {
      Untrusted.text(guess.speakerName, or: "someone")
      " → ".dim
      guess.talkingTo == "ME" ? "the bot" : Untrusted.text(guess.talkingTo, or: "?")
      if let confidence = guess.directedConfidence, confidence.magnitude <= 1 {
        " \(Amount.fixed(confidence * 100, 0))%".dim
      }
    }
  }

  @Lines private var thought: [Line] {
    if let engine = conversation.thoughtEngine {
      Line(engine.busy == true ? "thinking" : "at rest", engine.busy == true ? .bold : .plain)
      fact("next", Age.text(engine.nextAttemptAt, at: now))
      fact("tried", Age.text(engine.lastAttemptAt, at: now))
      fact("spoke", Age.text(engine.lastSpokenAt, at: now) ?? "never")
    }
  }

  /// A thought that waits: its words, and what was decided of it.
  @Lines private func pending(_ width: Int) -> [Line] {
    if let thought = conversation.thoughtEngine?.pendingThought,
      let text = Untrusted.text(thought.text ?? thought.draftText)
    {
      row("", width, text: "“\(text)”", most: 2)
      row("", width) {
        Untrusted.words(thought.status)?.dim
        Untrusted.words(thought.lastDecisionAction)?.dim
        Untrusted.text(thought.lastDecisionReason)?.dim
        Untrusted.text(thought.invalidationReason).map { "overtaken: \($0)".dim }
      }
    }
  }
}
