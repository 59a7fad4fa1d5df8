import Agent
import Core
import Screen

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
