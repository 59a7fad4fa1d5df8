import Agent
import Core
import Screen

struct ParticipantsPanel: Panel {
  static let name = "participants", title = "Participants"

  private static let most = 12

  private struct Person {
    let name: String
    let userId: String?
    let speech: VoiceCapture?
    let spokeAt: Timestamp?
  }

  private let session: VoiceSession, everyone: [Person], now: Now

  init?(_ session: VoiceSession, at now: Now) {
    (self.session, everyone, self.now) = (session, Self.everyone(session), now)
  }

  var note: Line {
    let speaking = session.activeCaptures.count
    return Line {
      "\(session.participantCount)"
      if speaking > 0 { ", \(speaking) speaking".styled(.positive) }
    }
  }

  @Lines func lines(width: Int) -> [Line] {
    let hidden = max(session.participantCount, everyone.count) - shown.count
    Grid.lines([.left, .giving, .left], gap: 1, width: width) { [bot] + shown.map(row) }
    if hidden > 0 { "  and \(hidden) more".dim }
  }

  /// The people of the channel, and whoever speaks without being in the list.
  private static func everyone(_ session: VoiceSession) -> [Person] {
    var spokeAt: [String: Timestamp] = [:]
    for turn in session.recentTurns where turn.role != "assistant" {
      if turn.kind ?? "speech" == "speech", let name = turn.speakerName { spokeAt[name] = turn.at }
    }
    var speech: [String: VoiceCapture] = [:]
    for capture in session.activeCaptures { if let id = capture.userId { speech[id] = capture } }
    func person(_ name: String?, _ userId: String?, _ capture: VoiceCapture?) -> Person {
      Person(
        name: Untrusted.person(name, userId), userId: userId, speech: capture,
        spokeAt: name.flatMap { spokeAt[$0] })
    }
    let listed = session.participants.map { one in
      person(one.displayName, one.userId, one.userId.flatMap { speech.removeValue(forKey: $0) })
    }
    let others = session.activeCaptures.filter {
      $0.userId.map { speech.removeValue(forKey: $0) != nil } ?? true
    }
    return listed + others.map { person($0.displayName, $0.userId, $0) }
  }

  /// In the order of the server, so that nobody jumps; whoever speaks is never
  /// left out.
  private var shown: [Person] {
    guard everyone.count > Self.most else { return everyone }
    let speaking = everyone.filter { $0.speech != nil }.prefix(Self.most)
    return Array(speaking + everyone.filter { $0.speech == nil }.prefix(Self.most - speaking.count))
  }

  private func row(_ person: Person) -> [Line] {
    let isSpeaking = person.speech != nil
    let focus = session.focusedSpeaker?.userId
    let state = Line {
      if let speech = person.speech {
        "speaking".styled(.positive)
        spoken(speech).map { " " + $0 }
      } else {
        (person.spokeAt.map { "spoke \(now.words(for: $0))" } ?? "quiet").dim
      }
      if focus != nil, focus == person.userId { " · in focus" }
    }
    return [
      isSpeaking ? "●".styled(.positive) : "○".dim,
      Line(person.name, isSpeaking ? .bold : .plain), state,
    ]
  }

  private func spoken(_ speech: VoiceCapture) -> String? {
    if let start = speech.startedAt, start <= now.time {
      return Age.span(from: start, to: now.time)
    }
    return speech.ageMs.map { Amount.duration(max($0, 0)) }
  }

  private var bot: [Line] {
    let (word, style) = output
    let isBusy = word != "quiet"
    let since = Age.span(from: session.assistantOutput?.phaseEnteredAt, to: now.time)
    let state = Line {
      word.styled(style)
      if isBusy { since.map { " " + $0 } }
      if session.isPlaybackArmed == false { " · not ready to play".styled(.warning) }
    }
    return [
      Line("◆", isBusy ? style : .dim), Line(Untrusted.bot(in: session), isBusy ? .bold : .plain),
      state,
    ]
  }

  private var output: (String, Style) {
    switch session.assistantOutput?.phase {
    case "speaking_live": ("speaking", .positive)
    case "speaking_buffered": ("speaking, buffered", .positive)
    case "response_pending": ("about to answer", .warning)
    case "awaiting_tool_outputs": ("waits for tools", .warning)
    case "idle", nil: session.botTurnOpen ? ("speaking", .positive) : ("quiet", .dim)
    case .some(let phase): (Untrusted.words(phase) ?? "", .plain)
    }
  }
}

struct MembershipPanel: Panel {
  static let name = "membership", title = "Comings and goings"

  private static let most = 6

  private let session: VoiceSession, now: Now

  init?(_ session: VoiceSession, at now: Now) {
    if session.membershipEvents.isEmpty { return nil }
    (self.session, self.now) = (session, now)
  }

  func lines(width: Int) -> [Line] {
    session.membershipEvents.suffix(Self.most).reversed().map { event in
      let age = Age.text(event.at, at: now) ?? Age.text(event.ageMs) ?? "?"
      let (mark, verb) =
        switch event.eventType {
        case "join": ("→ ".styled(.positive), "joined")
        case "leave": ("← ".styled(.warning), "left")
        default: ("· ".dim, Fit.truncate(Untrusted.words(event.eventType) ?? "?", to: 20))
        }
      let name = Untrusted.person(event.displayName, event.userId, in: session)
      return Line {
        let lead = (Fit.padStart(age, to: now.cells) + "  ").dim
        let room = width - lead.cells - mark.cells - CellWidth.of(verb) - 1
        lead
        mark
        Fit.truncate(name, to: max(room, 2)) + " "
        verb.dim
      }.cut(to: width)
    }
  }
}
