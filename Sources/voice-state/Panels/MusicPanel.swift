import Agent
import Core
import Screen

/// What music plays, who asked for it, what comes next and what is asked back.
struct MusicPanel: Panel {
  static let name = "music"
  static let title = "Music"

  /// Tracks of the queue and results of a search that are shown.
  private static let most = 5

  private let music: VoiceMusic
  private let session: VoiceSession
  private let now: Now

  init?(_ session: VoiceSession, at now: Now) {
    guard let music = session.music else { return nil }
    let isSilent = !music.active && (music.phase ?? "idle") == "idle"
    let isUnused =
      music.lastTrackTitle == nil && music.lastQuery == nil && music.pendingQuery == nil
      && music.pendingResults.isEmpty && !music.disambiguationActive
      && music.queueState?.tracks.isEmpty != false
    if isSilent && isUnused { return nil }
    self.music = music
    self.session = session
    self.now = now
  }

  var note: Line { Line(phase, style) }

  func lines(width: Int) -> [Line] {
    var rows = Labels(width: width)
    rows.add("asked", asked)
    rows.add("source", source)
    rows.add("played", played)
    rows.add("queue", queue)
    return track(width) + rows.lines + question(width)
  }

  private var phase: String {
    switch music.phase {
    case "paused_wake_word": return "paused for the wake word"
    case "paused":
      return Untrusted.words(music.pauseReason).map { "paused: \($0)" } ?? "paused"
    default: return Untrusted.words(music.phase) ?? (music.active ? "playing" : "idle")
    }
  }

  private var mark: String {
    switch music.phase {
    case "paused", "paused_wake_word", "loading", "stopping": "◌"
    default: music.active ? "♪" : "·"
    }
  }

  private var style: Style {
    switch music.phase {
    case "paused", "paused_wake_word", "loading", "stopping": Style(Palette.warning)
    default: music.active ? Style(Palette.positive) : .dim
    }
  }

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

  private var asked: FactFlow {
    var facts = FactFlow()
    facts.add(Untrusted.person(music.lastRequestedByUserId, in: session))
    facts.add(PanelText.quoted(music.lastRequestText))
    facts.add("query", PanelText.quoted(music.lastQuery))
    return facts
  }

  private var source: FactFlow {
    var facts = FactFlow()
    facts.add(Untrusted.words(music.provider))
    facts.add(Untrusted.words(music.lastCommandReason ?? music.source), .dim)
    return facts
  }

  private var played: FactFlow {
    var facts = FactFlow()
    if music.active {
      facts.add(Age.clock(from: music.startedAt, to: now.time))
    } else {
      facts.add("stopped", Age.text(music.stoppedAt, at: now))
    }
    if let volume = music.queueState?.volume, (0...10).contains(volume) {
      facts.add("volume", Amount.fixed(volume * 100, 0) + "%")
    }
    switch music.replyHandoffMode {
    case "duck": facts.add("softer for replies")
    case "pause": facts.add("paused for replies")
    default: facts.add("for replies", Untrusted.words(music.replyHandoffMode))
    }
    return facts
  }

  private var queue: FactFlow {
    var facts = FactFlow()
    guard let queue = music.queueState, !queue.tracks.isEmpty else { return facts }
    let playing = queue.nowPlayingIndex.flatMap { queue.tracks.indices.contains($0) ? $0 : nil }
    let count = PanelText.count(queue.tracks.count, "track")
    facts.add(playing.map { "\($0 + 1) of \(count)" } ?? count)
    let next = queue.tracks.dropFirst(playing.map { $0 + 1 } ?? 0).prefix(Self.most)
    for (index, track) in next.enumerated() {
      let name = Self.name(track.title ?? track.id, track.artist)
      if index == 0 { facts.add("next", name) } else { facts.add(name) }
    }
    return facts
  }

  private func question(_ width: Int) -> [Line] {
    let isAsking = music.disambiguationActive
    guard isAsking || !music.pendingResults.isEmpty || music.pendingQuery != nil else { return [] }
    var facts = FactFlow()
    var what = Line(isAsking ? "? which" : "◌ looks for", Style(Palette.warning))
    what.add(PanelText.quoted(music.pendingQuery).map { " " + $0 } ?? "")
    facts.add(what)
    facts.add("for", Untrusted.person(music.pendingRequestedByUserId, in: session))
    if music.pendingPlatform != "auto" {
      facts.add("on", Untrusted.words(music.pendingPlatform))
    }
    facts.add(Age.text(music.pendingRequestedAt, at: now), .dim)
    var grid = Grid([.right, .giving, .right, .left])
    for (index, result) in music.pendingResults.prefix(Self.most).enumerated() {
      let seconds = result.durationSeconds.flatMap { (0..<360_000).contains($0) ? Int64($0) : nil }
      let name = Self.name(result.title ?? result.id, result.artist)
      grid.add([
        Line("  \(index + 1)", .dim), Line(name.isEmpty ? "?" : name),
        Line(seconds.map { Amount.clock($0) } ?? "", .dim),
        Line(Untrusted.words(result.platform) ?? "", .dim),
      ])
    }
    return facts.lines(width: width) + grid.lines(width: width)
  }
}

/// How often sounds were played, and how willing the bot is to play one.
struct SoundboardPanel: Panel {
  static let name = "soundboard"
  static let title = "Soundboard"

  private let soundboard: VoiceSoundboard
  private let context: VoiceGenerationContext?
  private let now: Now

  init?(_ session: VoiceSession, at now: Now) {
    guard let soundboard = session.soundboard,
      soundboard.playCount > 0 || soundboard.lastPlayedAt != nil
    else { return nil }
    self.soundboard = soundboard
    context = session.lastGenerationContext
    self.now = now
  }

  func lines(width: Int) -> [Line] {
    var facts = FactFlow()
    facts.add(PanelText.count(soundboard.playCount, "sound") + " played")
    facts.add("last", Age.text(soundboard.lastPlayedAt, at: now))
    if let count = context?.soundboardCandidateCount {
      facts.add(PanelText.count(count, "candidate"))
    }
    facts.add("eagerness", context?.soundboardEagerness.map { String($0) })
    return facts.lines(width: width)
  }
}
