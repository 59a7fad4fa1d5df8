import Agent
import Core
import Screen

struct ToolsPanel: Panel {
  static let name = "tools", title = "Tool calls"

  /// A call that takes longer is slow, in milliseconds.
  static let slowMs = 3000.0
  private static let wide = 50
  private static let most = 6

  private let calls: [VoiceToolCall]
  private let servers: [String: String]
  private let now: Now

  init?(_ session: VoiceSession, at now: Now) {
    guard !session.toolCalls.isEmpty else { return nil }
    var servers: [String: String] = [:]
    for tool in session.brainTools { if let name = tool.name { servers[name] = tool.serverName } }
    (calls, self.servers, self.now) = (session.toolCalls, servers, now)
  }

  var note: Line {
    let running = calls.count { $0.state == .running }
    let failed = calls.count { $0.state == .failed }
    let slow = calls.count { ($0.runtimeMs ?? 0) > Self.slowMs }
    return Line {
      "\(calls.count)"
      if running > 0 { ", \(running) running".styled(.warning) }
      if failed > 0 { ", \(failed) failed".styled(.error) }
      if slow > 0 { ", \(slow) slow".styled(.warning) }
    }
  }

  @Lines func lines(width: Int) -> [Line] {
    let shown = shown
    let isWide = width >= Self.wide
    let rows = Grid.lines([.left, .giving, .right, .left, .giving], gap: 1, width: width) {
      shown.map { call in
        [
          mark(call), name(call), time(call), remark(call),
          isWide ? (arguments(call) ?? "").dim : Line(),
        ]
      }
    }
    for (row, call) in zip(rows, shown) {
      row
      let outcome = outcome(call, arguments: isWide ? nil : arguments(call))
      if !outcome.isEmpty { Line([Line.Span("  ")] + outcome.flatMap(\.spans)).cut(to: width) }
    }
  }

  /// The last calls; one that still runs is never left out.
  private var shown: [VoiceToolCall] {
    let last = calls.suffix(Self.most)
    let running = calls.dropLast(Self.most).filter { $0.state == .running }.suffix(2)
    return Array(running + last.dropFirst(running.count))
  }

  private func mark(_ call: VoiceToolCall) -> Line {
    switch call.state {
    case .running: "◌".styled(.warning)
    case .ok: "✓".styled(.positive)
    case .failed: "✗".styled(.error)
    }
  }

  private func name(_ call: VoiceToolCall) -> Line {
    let server = call.serverName ?? call.toolName.flatMap { servers[$0] }
    let type = call.toolType == "function" ? nil : call.toolType
    return Line {
      Fit.truncate(Untrusted.text(call.toolName, or: "?"), to: 24)
        .styled(call.state == .failed ? Style(Palette.error, bold: true) : .bold)
      Untrusted.text(server ?? type).map { ("@" + Fit.truncate($0, to: 16)).dim }
    }
  }

  private func time(_ call: VoiceToolCall) -> Line {
    if call.state == .running {
      return (Age.span(from: call.startedAt, to: now.time) ?? "").styled(.warning)
    }
    guard let time = call.runtimeMs, time >= 0 else { return "-".dim }
    return Amount.duration(time).styled(time > Self.slowMs ? .warning : .plain)
  }

  private func remark(_ call: VoiceToolCall) -> Line {
    if call.state == .running { return "running".styled(.warning) }
    return (call.runtimeMs ?? 0) > Self.slowMs ? "slow".styled(.warning) : Line()
  }

  private func arguments(_ call: VoiceToolCall) -> String? {
    Untrusted.value(call.arguments, unwraps: true)
  }

  /// What came out, with the arguments before it where they have no room above.
  @Lines private func outcome(_ call: VoiceToolCall, arguments: String?) -> [Line] {
    arguments.map { "\($0) ".dim }
    let output = Untrusted.value(call.outputSummary)
    if call.state == .failed {
      "! \(Untrusted.text(call.error) ?? output ?? "failed")".styled(.error)
    } else if let output {
      "→ ".dim
      output
    }
  }
}

struct MCPPanel: Panel {
  static let name = "mcp", title = "MCP servers"

  private static let most = 40

  private let servers: [VoiceMCPServer], now: Now

  init?(_ session: VoiceSession, at now: Now) {
    (servers, self.now) = (Array(session.mcpStatus.prefix(Self.most)), now)
    if servers.isEmpty { return nil }
  }

  var note: Line {
    let up = servers.count { $0.connected == true }
    return Line("\(up) of \(servers.count) up", up == servers.count ? .plain : .error)
  }

  @Lines func lines(width: Int) -> [Line] {
    let isWide = width >= 72
    let rows = Grid.lines([.left, .right, .left, .giving], width: width) {
      servers.map { server in
        [head(server), count(server), call(server), isWide ? tools(server, width) : Line()]
      }
    }
    for (row, server) in zip(rows, servers) {
      row
      if !isWide, !server.tools.isEmpty {
        Line([Line.Span("  ")] + tools(server, width).spans).cut(to: width)
      }
      fault(server, width)
    }
  }

  private func head(_ server: VoiceMCPServer) -> Line {
    let isUp = server.connected == true
    return Line {
      Line(isUp ? "● " : "✗ ", isUp ? .positive : .error)
      Fit.truncate(Untrusted.text(server.serverName, or: "(no name)"), to: 20)
    }
  }

  private func count(_ server: VoiceMCPServer) -> Line {
    let count = server.tools.count
    return count == 0 ? "no tools".dim : Line(PanelText.count(count, "tool"))
  }

  private func call(_ server: VoiceMCPServer) -> Line {
    if let age = Age.text(server.lastCallAt, at: now) { return Line("called \(age)") }
    return (Age.text(server.lastConnectedAt, at: now).map { "since \($0)" } ?? "never up").dim
  }

  private func tools(_ server: VoiceMCPServer, _ cells: Int) -> Line {
    let names = server.tools.prefix(Self.most).compactMap { Untrusted.text($0.name) }
    return names.joined(separator: ", ").dim.cut(to: cells)
  }

  /// An error of a server that is up again is history.
  private func fault(_ server: VoiceMCPServer, _ width: Int) -> [Line] {
    guard let error = server.lastError else { return [] }
    let isPast = server.connected == true
    return PanelText.paragraph(
      error, isPast ? .dim : .error, lead: (isPast ? "  last error " : "  ").dim, width: width,
      most: 2)
  }
}

struct MusicPanel: Panel {
  static let name = "music", title = "Music"

  private static let most = 5

  private let music: VoiceMusic, session: VoiceSession, now: Now

  init?(_ session: VoiceSession, at now: Now) {
    guard let music = session.music else { return nil }
    (self.music, self.session, self.now) = (music, session, now)
    let isSilent = !music.active && (music.phase ?? "idle") == "idle"
    let isUnused =
      music.lastTrackTitle == nil && music.lastQuery == nil && music.pendingQuery == nil
      && music.pendingResults.isEmpty && !music.disambiguationActive
      && music.queueState?.tracks.isEmpty != false
    if isSilent && isUnused { return nil }
  }

  var note: Line { Line(phase, style) }

  @Lines func lines(width: Int) -> [Line] {
    track(width)
    row("asked", width) {
      Untrusted.person(music.lastRequestedByUserId, in: session)
      PanelText.quoted(music.lastRequestText)
      fact("query", PanelText.quoted(music.lastQuery))
    }
    row("source", width) {
      Untrusted.words(music.provider)
      Untrusted.words(music.lastCommandReason ?? music.source)?.dim
    }
    row("played", width) { played }
    row("queue", width) { queue }
    if music.disambiguationActive || !music.pendingResults.isEmpty || music.pendingQuery != nil {
      flow(width: width) { question }
      results(width)
    }
  }

  private var phase: String {
    switch music.phase {
    case "paused_wake_word": return "paused for the wake word"
    case "paused":
      return Untrusted.words(music.pauseReason).map { "paused: \($0)" } ?? "paused"
    default: return Untrusted.words(music.phase) ?? (music.active ? "playing" : "idle")
    }
  }

  private var isBetween: Bool {
    ["paused", "paused_wake_word", "loading", "stopping"].contains(music.phase)
  }
  private var mark: String { isBetween ? "◌" : music.active ? "♪" : "·" }
  private var style: Style { isBetween ? .warning : music.active ? .positive : .dim }

  private func track(_ width: Int) -> [Line] {
    let artists = music.lastTrackArtists.prefix(8).compactMap { Untrusted.text($0) }
    let name = Self.name(music.lastTrackTitle, artists.joined(separator: ", "))
    guard !name.isEmpty else { return [] }
    return PanelText.paragraph(
      name, music.active ? .bold : .plain, lead: Line("\(mark) ", style), width: width, most: 2)
  }

  private static func name(_ title: String?, _ artist: String?) -> String {
    [Untrusted.text(title), Untrusted.text(artist)].compactMap { $0 }.joined(separator: " — ")
  }

  @Lines private var played: [Line] {
    if music.active {
      Age.clock(from: music.startedAt, to: now.time)
    } else {
      fact("stopped", Age.text(music.stoppedAt, at: now))
    }
    if let volume = music.queueState?.volume, (0...10).contains(volume) {
      fact("volume", Amount.fixed(volume * 100, 0) + "%")
    }
    switch music.replyHandoffMode {
    case "duck": "softer for replies"
    case "pause": "paused for replies"
    default: fact("for replies", Untrusted.words(music.replyHandoffMode))
    }
  }

  @Lines private var queue: [Line] {
    let tracks = music.queueState?.tracks ?? []
    if !tracks.isEmpty {
      let index = music.queueState?.nowPlayingIndex
      let playing = index.flatMap { tracks.indices.contains($0) ? $0 : nil }
      let count = PanelText.count(tracks.count, "track")
      let next = tracks.dropFirst(playing.map { $0 + 1 } ?? 0).prefix(Self.most)
      playing.map { "\($0 + 1) of \(count)" } ?? count
      for (index, track) in next.enumerated() {
        let name = Self.name(track.title ?? track.id, track.artist)
        if index == 0 { fact("next", name) } else { name }
      }
    }
  }

  @Lines private var question: [Line] {
    Line {
      (music.disambiguationActive ? "? which" : "◌ looks for").styled(.warning)
      PanelText.quoted(music.pendingQuery).map { " " + $0 }
    }
    fact("for", Untrusted.person(music.pendingRequestedByUserId, in: session))
    if music.pendingPlatform != "auto" { fact("on", Untrusted.words(music.pendingPlatform)) }
    Age.text(music.pendingRequestedAt, at: now)?.dim
  }

  private func results(_ width: Int) -> [Line] {
    Grid.lines([.right, .giving, .right, .left], width: width) {
      music.pendingResults.prefix(Self.most).enumerated().map { index, result in
        let name = Self.name(result.title ?? result.id, result.artist)
        let time = result.durationSeconds.flatMap { (0..<360_000).contains($0) ? Int64($0) : nil }
        return [
          "  \(index + 1)".dim, Line(name.isEmpty ? "?" : name),
          (time.map { Amount.clock($0) } ?? "").dim,
          (Untrusted.words(result.platform) ?? "").dim,
        ]
      }
    }
  }
}

struct SoundboardPanel: Panel {
  static let name = "soundboard", title = "Soundboard"

  private let soundboard: VoiceSoundboard, context: VoiceGenerationContext?, now: Now

  init?(_ session: VoiceSession, at now: Now) {
    guard let soundboard = session.soundboard,
      soundboard.playCount > 0 || soundboard.lastPlayedAt != nil
    else { return nil }
    (self.soundboard, context, self.now) = (soundboard, session.lastGenerationContext, now)
  }

  func lines(width: Int) -> [Line] {
    flow(width: width) {
      PanelText.count(soundboard.playCount, "sound") + " played"
      fact("last", Age.text(soundboard.lastPlayedAt, at: now))
      context?.soundboardCandidateCount.map { PanelText.count($0, "candidate") }
      fact("eagerness", context?.soundboardEagerness.map { String($0) })
    }
  }
}

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
