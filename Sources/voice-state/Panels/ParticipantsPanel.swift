import Agent
import Core
import Screen

/// Who is in the channel: who speaks and for how long, and what the bot does.
struct ParticipantsPanel: Panel {
  static let name = "participants"
  static let title = "Participants"

  /// The most people that are named.
  private static let most = 12

  /// Someone in the channel.
  private struct Person {
    let name: String
    let userId: String?
    /// What is being said, nil when nothing is.
    let speech: VoiceCapture?
    /// When something was said last.
    let spokeAt: Timestamp?
  }

  private let session: VoiceSession
  private let everyone: [Person]
  private let now: Now

  init?(_ session: VoiceSession, at now: Now) {
    self.session = session
    self.now = now
    everyone = Self.everyone(session)
  }

  var note: Line {
    let speaking = session.activeCaptures.count
    var note = Line()
    note.add("\(session.participantCount)")
    if speaking > 0 { note.add(", \(speaking) speaking", Style(Palette.positive)) }
    return note
  }

  func lines(width: Int) -> [Line] {
    var grid = Grid([.left, .giving, .left], gap: 1)
    for row in bot + people { grid.add(row) }
    var lines = grid.lines(width: width)
    let hidden = max(session.participantCount, everyone.count) - shown.count
    if hidden > 0 { lines.append(Line("  and \(hidden) more", .dim)) }
    return lines
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

  private var people: [[Line]] {
    let focus = session.focusedSpeaker?.userId
    return shown.map { person in
      var state = Line()
      if let speech = person.speech {
        state.add("speaking", Style(Palette.positive))
        if let time = spoken(speech) { state.add(" " + time) }
      } else if let at = person.spokeAt {
        state.add("spoke " + now.words(for: at), .dim)
      } else {
        state.add("quiet", .dim)
      }
      if let focus, focus == person.userId { state.add(" · in focus") }
      let isSpeaking = person.speech != nil
      return [
        isSpeaking ? Line("●", Style(Palette.positive)) : Line("○", .dim),
        Line(person.name, isSpeaking ? .bold : .plain), state,
      ]
    }
  }

  private func spoken(_ speech: VoiceCapture) -> String? {
    if let start = speech.startedAt, start <= now.time {
      return Age.span(from: start, to: now.time)
    }
    return speech.ageMs.map { Amount.duration(max($0, 0)) }
  }

  private var bot: [[Line]] {
    let (word, style) = output
    var state = Line()
    state.add(word, style)
    if word != "quiet",
      let since = Age.span(from: session.assistantOutput?.phaseEnteredAt, to: now.time)
    {
      state.add(" " + since)
    }
    if session.isPlaybackArmed == false {
      state.add(" · not ready to play", Style(Palette.warning))
    }
    let isBusy = word != "quiet"
    return [
      [
        Line("◆", isBusy ? style : .dim), Line(Untrusted.bot(in: session), isBusy ? .bold : .plain),
        state,
      ]
    ]
  }

  /// What the bot's voice does, in words.
  private var output: (String, Style) {
    switch session.assistantOutput?.phase {
    case "speaking_live": ("speaking", Style(Palette.positive))
    case "speaking_buffered": ("speaking, buffered", Style(Palette.positive))
    case "response_pending": ("about to answer", Style(Palette.warning))
    case "awaiting_tool_outputs": ("waits for tools", Style(Palette.warning))
    case "idle", nil:
      session.botTurnOpen ? ("speaking", Style(Palette.positive)) : ("quiet", .dim)
    case .some(let phase): (Untrusted.words(phase), .plain)
    }
  }
}

/// Who came and went, newest first.
struct MembershipPanel: Panel {
  static let name = "membership"
  static let title = "Comings and goings"

  private static let most = 6

  private let events: [VoiceMembershipEvent]
  private let session: VoiceSession
  private let now: Now

  init?(_ session: VoiceSession, at now: Now) {
    guard !session.membershipEvents.isEmpty else { return nil }
    events = session.membershipEvents.suffix(Self.most).reversed()
    self.session = session
    self.now = now
  }

  func lines(width: Int) -> [Line] {
    events.map { event in
      let age = Age.text(event.at, at: now) ?? Age.text(event.ageMs) ?? "?"
      var line = Line(Fit.padStart(age, to: now.cells) + "  ", .dim)
      switch event.eventType {
      case "join": line.add("→ ", Style(Palette.positive))
      case "leave": line.add("← ", Style(Palette.warning))
      default: line.add("· ", .dim)
      }
      let verb = Self.verb(event.eventType)
      let room = max(width - line.cells - CellWidth.of(verb) - 1, 2)
      let name = Untrusted.person(event.displayName ?? session.name(of: event.userId), event.userId)
      line.add(Fit.truncate(name, to: room) + " ")
      line.add(verb, .dim)
      return line.cut(to: width)
    }
  }

  private static func verb(_ type: String?) -> String {
    switch type {
    case "join": "joined"
    case "leave": "left"
    default: Fit.truncate(Untrusted.words(type) ?? "?", to: 20)
    }
  }
}
