import Agent
import CLibc
import Core
import Screen

struct Once {
  let options: StateOptions
  let diagnostics: Diagnostics
  private let writer = RecordWriter()

  init(_ options: StateOptions, _ diagnostics: Diagnostics) {
    (self.options, self.diagnostics) = (options, diagnostics)
  }

  func run(_ backend: ClankyVoice) throws -> ExitStatus {
    let state = try backend.state()
    if options.isQuiet { Process.exitAtOnce(isActive(state) ? .success : .negative) }
    var feed = VoiceFeed(options.filter)
    feed.receive(state, at: nil)
    return try show(
      &feed, at: .now(), guilds: { options.isVerbose ? [:] : backend.guildNames() },
      past: { try recent(backend) })
  }

  private func isActive(_ state: RawState) -> Bool {
    if options.filter == SessionFilter() { return state.activeCount > 0 || !state.sessions.isEmpty }
    return state.sessions.contains { options.filter.takes(id: $0.id, guild: $0.guild) }
  }

  func show(
    _ feed: inout VoiceFeed, at now: Timestamp, guilds: () -> [String: String] = { [:] },
    past: () throws -> [Line] = { [] }
  ) throws -> ExitStatus {
    let sessions = feed.sessions()
    if options.isQuiet { return feed.isEmpty ? .negative : .success }
    if let wanted = options.filter.session, feed.isEmpty {
      diagnostics.error("session \(wanted)", "not active")
      return .negative
    }
    if let prompt = options.prompt { return try show(prompt, sessions) }
    switch options.form ?? .text {
    case .text: try text(sessions, now, guilds, past)
    case .json: for session in feed.raw { try JSONLines.write(session.bytes, to: writer) }
    case .line:
      var changes = Changes()
      for session in sessions {
        let words = Summary(session, at: now).words
        try writer.write(changes.line(session.sessionId ?? "", now, words) + "\n")
      }
      if sessions.isEmpty { _ = changes.lines([], at: now) }
      if sessions.isEmpty { try writer.write(changes.line("", now, "no voice session") + "\n") }
    case .waybar, .tmux, .i3:
      let form = options.form ?? .tmux
      try writer.write(BarForm.line(form, sessions, at: now, link: nil) + "\n")
    }
    try writer.flush()
    return .success
  }

  private func text(
    _ sessions: [VoiceSession], _ now: Timestamp, _ guilds: () -> [String: String],
    _ past: () throws -> [Line]
  ) throws {
    let canvas = Canvas(options.look)
    let width = canvas.width
    guard sessions.isEmpty else {
      let panels = options.panels.map { names in names.compactMap(Panels.named) }
      let names = guilds()
      let sessions = sessions.map { session in
        var session = session
        session.guildName = session.guildId.flatMap { names[$0] }
        return session
      }
      let cockpit = Cockpit(sessions: sessions, now: Now(now), panels: panels, width: width)
      return try writer.write(canvas.text(cockpit.lines, width: width))
    }
    try writer.write(canvas.text([Line([.init(NoSession.words, .dim)])], width: width))
    // The state was asked for; what came before is only an addition.
    let lines = (try? past()) ?? []
    if !lines.isEmpty {
      try writer.write(canvas.text([Line()] + lines, width: isatty(1) == 1 ? width : 1000))
    }
    if isatty(1) == 1 {
      try writer.flush()
      diagnostics.tellPerson(NoSession.origin)
    }
  }

  private func recent(_ backend: ClankyVoice) throws -> [Line] {
    let past = try backend.past(guild: options.filter.guild, limit: NoSession.recent)
    return past.limited(count: NoSession.recent).lines(
      at: .now(), guilds: past.isEmpty || options.isVerbose ? [:] : backend.guildNames())
  }

  /// One prompt of the first session that has it, every byte of it.
  private func show(_ name: PromptName, _ sessions: [VoiceSession]) throws -> ExitStatus {
    for session in sessions {
      guard let text = name.text(of: session) else { continue }
      let isTerminal = isatty(1) == 1
      let shown =
        isTerminal ? Plain.lines(text).joined(separator: "\n") : text
      try writer.write(shown.hasSuffix("\n") ? shown : shown + "\n")
      try writer.flush()
      return .success
    }
    diagnostics.error(
      "prompt \(name.word)", sessions.isEmpty ? "no voice session" : "not known")
    return .negative
  }
}

struct History {
  let options: StateOptions
  let diagnostics: Diagnostics

  static let usual = 100

  func run(_ backend: ClankyVoice) throws -> ExitStatus {
    let now = Timestamp.now()
    let since = options.since?.timestamp(now: now)
    let filter = options.filter
    // The server's own window leaves out what began before it, and a filter of
    // ours may leave few of many.
    let isFiltered = since != nil || filter.session != nil
    let limit = isFiltered ? ClankyVoice.mostPast : options.count ?? Self.usual
    let all = try backend.past(guild: filter.guild, limit: min(max(limit, 1), ClankyVoice.mostPast))
    let past = all.filtered(filter).limited(since: since, count: options.count ?? Self.usual)
    let writer = RecordWriter()
    if options.form == .json {
      for row in past { try JSONLines.write(row.bytes, to: writer) }
    } else if past.isEmpty {
      try writer.write("No past voice session.\n")
      if isatty(1) == 1 {
        try writer.flush()
        diagnostics.tellPerson(NoSession.origin)
      }
    } else {
      let canvas = Canvas(options.look)
      let lines = past.lines(
        at: now, guilds: options.isVerbose ? [:] : backend.guildNames())
      // A row is cut only on a terminal: its id is what replay wants.
      let width = isatty(1) == 1 || options.look.width != nil ? canvas.width : 1000
      try writer.write(canvas.text(lines, width: width))
    }
    try writer.flush()
    return .success
  }
}
