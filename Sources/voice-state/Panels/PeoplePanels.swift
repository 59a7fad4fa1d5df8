import Agent
import Core
import Records
import Screen

struct HeadPanel: Panel {
  static let name = "session", title = "Session"
  static let isHead = true

  private static let soonSeconds: Int64 = 60

  private let session: VoiceSession, now: Now

  init?(_ session: VoiceSession, at now: Now) { (self.session, self.now) = (session, now) }

  static func style(of activity: VoiceActivity) -> Style {
    switch activity {
    case .speaking: Style(Palette.positive, bold: true)
    case .processing: Style(Palette.warning, bold: true)
    case .listening: Style(Palette.colour(of: .asr), bold: true)
    case .disconnected: Style(Palette.error, bold: true)
    case .idle: .bold
    }
  }

  @Lines func lines(width: Int) -> [Line] {
    let activity = session.activity
    let style = Self.style(of: activity)
    let title = Line {
      Line(activity == .disconnected ? "✗ " : activity == .idle ? "○ " : "● ", style)
      Line(activity.word, style)
      if let mode = Untrusted.text(session.modeLabel) {
        " · ".dim
        mode
      }
    }
    let elapsed = fact("up", Age.clock(from: session.startedAt, to: now.time))
    Rule.line(title, note: elapsed ?? Line(), width: width, sign: "━")
    flow(width: width) { state }
    // The ids, in one row where there is a screen for it.
    flow(width: width) {
      fact("channel", Untrusted.text(session.voiceChannelId), .dim)
      fact("guild", Untrusted.text(session.guildName ?? session.guildId), .dim)
      if width >= 100 {
        fact("text", Untrusted.text(session.textChannelId), .dim)
        fact("session", Untrusted.text(session.sessionId), .dim)
      }
    }
  }

  @Lines private var state: [Line] {
    let pending = session.pendingTurns
    PanelText.count(session.participantCount, "person", "people")
    if session.activeInputStreams > 0 { "\(session.activeInputStreams) speaking" }
    // The word of the state hides it while there is something else to tell.
    if session.realtime?.state?.connected == false, session.activity != .disconnected {
      "provider's link is down".styled(Style(Palette.error, bold: true))
    }
    if pending > 0 {
      PanelText.count(pending, "turn waits", "turns wait")
        .styled(pending > 2 ? Style(Palette.warning, bold: true) : .plain)
    }
    countdown("leaves if quiet", session.inactivityEndsAt)
    countdown("ends", session.maxEndsAt)
  }

  private func countdown(_ label: String, _ end: Timestamp?) -> Line? {
    guard let left = Age.seconds(from: now.time, to: end) else { return nil }
    return fact(
      label, left == 0 ? "now" : "in " + Amount.clock(left),
      left < Self.soonSeconds ? Style(Palette.warning, bold: true) : .plain)
  }
}

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

struct TranscriptPanel: Panel {
  static let name = "transcript", title = "Transcript"

  private static let most = 10
  private static let mostRows = 4
  /// The least cells of the ages, and the most of the names.
  private static let ageCells = 4
  private static let mostName = 12

  private struct Entry {
    let age: String, name: String, text: String
    let nameStyle: Style, textStyle: Style
  }

  private let entries: [Entry]
  private let count: Int

  init?(_ session: VoiceSession, at now: Now) {
    let turns = session.recentTurns.filter { !$0.text.isEmpty }
    count = turns.count
    let partial = session.asrSessions.compactMap { asr -> Entry? in
      guard let text = asr.utterance?.partialText else { return nil }
      return Entry(
        age: "now", name: Untrusted.person(asr.displayName, asr.userId), text: text + " …",
        nameStyle: .dim, textStyle: .dim)
    }
    let bot = Untrusted.bot(in: session)
    entries = turns.suffix(Self.most).map { Self.entry($0, now, bot: bot) } + partial.prefix(4)
    if entries.isEmpty { return nil }
  }

  var note: Line { count > Self.most ? Line("last \(Self.most) of \(count)", .dim) : Line() }

  func lines(width: Int) -> [Line] {
    let widest = entries.map { CellWidth.of($0.name) }.max() ?? 0
    let nameCells = min(widest, Self.mostName, max(width / 4, 4))
    let ages = max(entries.map { CellWidth.of($0.age) }.max() ?? 0, Self.ageCells)
    let ageCells = width < 28 + ages ? 0 : ages + 1
    let indent = ageCells + nameCells + 1
    return entries.flatMap { entry in
      let rows = Paragraph.wrap(entry.text, to: max(width - indent, 6), rows: Self.mostRows)
      return rows.enumerated().map { index, row in
        let name = Fit.truncate(entry.name, to: nameCells)
        return Line {
          if index == 0 {
            if ageCells > 0 { (Fit.padStart(entry.age, to: ages) + " ").dim }
            name.styled(entry.nameStyle)
            Fit.spaces(nameCells + 1 - CellWidth.of(name))
          } else {
            Fit.spaces(indent)
          }
          row.styled(entry.textStyle)
        }.cut(to: width)
      }
    }
  }

  private static func entry(_ turn: VoiceTurn, _ now: Now, bot: String) -> Entry {
    let isBot = turn.role == "assistant"
    let name: String
    var style: Style = isBot ? Style(Palette.positive, bold: true) : .bold
    switch turn.kind {
    case "thought":
      name = "thought"
      style = Style(Palette.colour(of: .initiative))
    case "membership", "effect": (name, style) = (Untrusted.text(turn.speakerName, or: "-"), .dim)
    default: name = Untrusted.text(turn.speakerName, or: isBot ? bot : "someone")
    }
    let isAside = turn.kind == "membership" || turn.kind == "effect" || turn.kind == "thought"
    return Entry(
      age: turn.at.map { shortAge($0, now) } ?? "", name: name,
      text: Plain.line(turn.text, limit: 2000), nameStyle: style,
      textStyle: isAside ? .dim : .plain)
  }

  /// An age of at most four cells, `now`, `14s`, `5m`; or the time.
  private static func shortAge(_ time: Timestamp, _ now: Now) -> String {
    let age = now.words(for: time)
    if age.hasSuffix(" ago") { return String(age.dropLast(4)) }
    return age.hasPrefix("in ") ? "+" + age.dropFirst(3) : age
  }
}

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
