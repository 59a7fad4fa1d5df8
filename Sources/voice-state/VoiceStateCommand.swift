import Agent
import CLibc
import Core
import Records
import Screen

/// voice-state(1): what the agent does in voice.
///
/// A folder here uses those before it in this list, never those after it: Feed (records,
/// and sessions as events change them), Text
/// (how anything is worded and laid out), Panels, Forms (a session as panels, as
/// lines), Options, Watch (the loop of a live view), Run (what can be asked for).
public func voiceStateMain() {
  StateOptions.table.run(StateOptions(), verbose: \.isVerbose) { options, diagnostics in
    var run = Run(options: options, diagnostics: diagnostics)
    do { return try run.run() } catch let error as any Reported {
      return run.trouble(error.message, error.status)
    } catch {
      diagnostics.fail(error, StateOptions.table.usage)
    }
  }
}

/// What can be asked for.
struct Run {
  var options: StateOptions
  let diagnostics: Diagnostics
  let writer = RecordWriter()

  mutating func run() throws -> ExitStatus {
    if case .records(let file) = options.subject {
      try resolveGuild(in: file)
      return try options.watches ? watch(file) : show(file)
    }
    let backend = try ClankyVoice(
      options.access, maxTime: options.reconnect.maxTime, diagnostics: diagnostics)
    try resolveGuild(by: backend)
    switch options.subject {
    case .history: return try history(backend)
    case .replay(let session): return try replay(backend, session)
    case .backend, .records:
      guard options.watches else { return try state(backend) }
      return try StreamWatch(Watch(options, diagnostics), backend).run()
    }
  }

  /// Says what went wrong, to a bar in its own form as well.
  func trouble(_ message: String, _ status: ExitStatus) -> ExitStatus {
    diagnostics.say(message)
    guard let form = options.form, form.isBar || form == .line && !options.watches,
      options.subject == .backend, !options.isQuiet
    else { return status }
    var line = form.trouble(status, message)
    if form == .line { line = Changes().line("", .now(), line) }
    do throws(WriteFailure) {
      try writer.write(line + "\n")
      try writer.flush()
    } catch {
      diagnostics.fail(writing: error)
    }
    // A bar hides a block whose command fails.
    return form.isBar && !options.watches ? .success : status
  }

  // MARK: - Who is meant by --guild: an id, or a name that the backend or the records tell

  private mutating func resolveGuild(by backend: ClankyVoice) throws(Failure) {
    guard let guild = options.filter.guild else { return }
    // A bar asks often, and a live view waits for a backend that is away.
    let isHasty = options.isQuiet || options.watches || options.form?.isBar == true
    if isHasty && NameKey.isID(guild) { return }
    options.filter.guild = try backend.guild(named: guild)
  }

  private mutating func resolveGuild(in file: String) throws(Failure) {
    guard let guild = options.filter.guild, !NameKey.isID(guild) else { return }
    let key = NameKey(guild)
    var ids: [String] = []
    NameScan.read(file) { told in
      guard told.kind == .guild, NameKey(told.name) == key, !ids.contains(told.id) else { return }
      ids.append(told.id)
    }
    guard let id = ids.first else {
      throw Failure(
        "guild \(guild)", "no such id, and no record of a file tells the name", .failure)
    }
    if ids.count > 1 {
      throw Failure(
        "guild \(guild)", "several have this name, give an id: \(ids.joined(separator: ", "))",
        .failure)
    }
    options.filter.guild = id
  }

  // MARK: - The sessions now

  private func state(_ backend: ClankyVoice) throws -> ExitStatus {
    let state = try backend.state()
    if options.isQuiet { Process.exitAtOnce(isActive(state) ? .success : .negative) }
    var feed = VoiceFeed(options.filter)
    feed.receive(state, at: nil)
    return try show(&feed, at: .now(), backend)
  }

  private func isActive(_ state: RawState) -> Bool {
    if options.filter == SessionFilter() { return state.activeCount > 0 || !state.sessions.isEmpty }
    return state.sessions.contains { options.filter.takes(id: $0.id, guild: $0.guild) }
  }

  /// Shows what there is, with what a backend tells besides.
  func show(
    _ feed: inout VoiceFeed, at now: Timestamp, _ backend: ClankyVoice? = nil
  ) throws -> ExitStatus {
    let sessions = feed.sessions()
    if options.isQuiet { return feed.isEmpty ? .negative : .success }
    if let wanted = options.filter.session, feed.isEmpty {
      diagnostics.error("session \(wanted)", "not active")
      return .negative
    }
    if let prompt = options.prompt { return try show(prompt, sessions) }
    let form = options.form ?? .text
    switch form {
    case .text: try text(sessions, now, backend)
    case .json: for session in feed.raw { try writer.write(json: session.bytes) }
    case .line:
      let changes = Changes()
      for session in sessions {
        let words = Summary(session: session, now: now).words
        try writer.write(changes.line(session.sessionId ?? "", now, words) + "\n")
      }
      if sessions.isEmpty { try writer.write(changes.line("", now, "no voice session") + "\n") }
    case .waybar, .tmux, .i3: try writer.write(form.line(sessions, at: now, link: nil) + "\n")
    }
    try writer.flush()
    return .success
  }

  private func text(_ sessions: [VoiceSession], _ now: Timestamp, _ backend: ClankyVoice?) throws {
    let canvas = Canvas(options.look)
    let width = canvas.width
    guard sessions.isEmpty else {
      let panels = options.panels.map { names in names.compactMap(Panels.named) }
      let names = guildNames(backend)
      let sessions = sessions.map { session in
        var session = session
        session.guildName = session.guildId.flatMap { names[$0] }
        return session
      }
      let cockpit = Cockpit(sessions: sessions, now: Now(now), panels: panels, width: width)
      return try writer.write(canvas.text(cockpit.lines, width: width))
    }
    try writer.write(canvas.text([NoSession.words.dim], width: width))
    // The state was asked for; what came before is only an addition.
    let past = try? backend?.past(guild: options.filter.guild, limit: NoSession.recent)
      .limited(count: NoSession.recent)
    if let past, !past.isEmpty {
      let lines = past.lines(at: .now(), guilds: guildNames(backend))
      try writer.write(canvas.text([Line()] + lines, width: isatty(1) == 1 ? width : 1000))
    }
    try tellOrigin()
  }

  private func guildNames(_ backend: ClankyVoice?) -> [String: String] {
    options.isVerbose ? [:] : backend?.guildNames() ?? [:]
  }

  /// Says to a person how there comes to be a session.
  private func tellOrigin() throws(WriteFailure) {
    guard isatty(1) == 1 else { return }
    try writer.flush()
    diagnostics.tellPerson(NoSession.origin)
  }

  /// One prompt of the first session that has it, every byte of it.
  private func show(_ name: PromptName, _ sessions: [VoiceSession]) throws -> ExitStatus {
    for session in sessions {
      guard let text = session.prompt(name)?.whole else { continue }
      let shown = isatty(1) == 1 ? Plain.lines(text).joined(separator: "\n") : text
      try writer.write(shown.hasSuffix("\n") ? shown : shown + "\n")
      try writer.flush()
      return .success
    }
    let reason = sessions.isEmpty ? "no voice session" : "not known"
    diagnostics.error("prompt \(name.rawValue)", reason)
    return .negative
  }

  // MARK: - The sessions that were

  private func history(_ backend: ClankyVoice) throws -> ExitStatus {
    let now = Timestamp.now()
    let since = options.since?.timestamp(now: now)
    let filter = options.filter
    let count = options.count ?? 100
    // The server's own window leaves out what began before it, and a filter of
    // ours may leave few of many.
    let isFiltered = since != nil || filter.session != nil
    let limit = isFiltered ? ClankyVoice.mostPast : count
    let all = try backend.past(guild: filter.guild, limit: min(limit, ClankyVoice.mostPast))
    let past = all.filter { filter.takes(id: $0.id, guild: $0.guild) }
      .limited(since: since, count: count)
    if options.form == .json {
      for row in past { try writer.write(json: row.bytes) }
    } else if past.isEmpty {
      try writer.write("No past voice session.\n")
      try tellOrigin()
    } else {
      let canvas = Canvas(options.look)
      let lines = past.lines(at: now, guilds: guildNames(backend))
      // A row is cut only on a terminal: its id is what replay wants.
      let width = isatty(1) == 1 || options.look.width != nil ? canvas.width : 1000
      try writer.write(canvas.text(lines, width: width))
    }
    try writer.flush()
    return .success
  }
}
