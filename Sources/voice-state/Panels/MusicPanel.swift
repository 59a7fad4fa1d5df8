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
  private let now: Timestamp

  init?(_ session: VoiceSession, at now: Timestamp) {
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
    track(width) + origin.lines(width: width) + queue(width) + question(width)
  }

  private var phase: String {
    switch music.phase {
    case "paused_wake_word": return "paused for the wake word"
    case "paused":
      return PanelText.words(music.pauseReason).map { "paused: \($0)" } ?? "paused"
    default: return PanelText.words(music.phase) ?? (music.active ? "playing" : "idle")
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
    let artists = music.lastTrackArtists.prefix(8).compactMap { Outside.text($0) }
    let name = Self.name(music.lastTrackTitle, artists.joined(separator: ", "))
    guard !name.isEmpty else { return [] }
    return PanelText.paragraph(
      name, music.active ? .bold : .plain, lead: Line("\(mark) ", style), width: width, most: 2)
  }

  private static func name(_ title: String?, _ artist: String?) -> String {
    [Outside.text(title), Outside.text(artist)].compactMap { $0 }.joined(separator: " — ")
  }

  private var origin: FactFlow {
    var facts = FactFlow()
    if music.active {
      facts.add("for", Age.clock(from: music.startedAt, to: now))
    } else {
      facts.add("stopped", Age.text(music.stoppedAt, at: now))
    }
    facts.add("asked by", Outside.person(music.lastRequestedByUserId, in: session))
    facts.add("said", PanelText.quoted(music.lastRequestText))
    facts.add("query", PanelText.quoted(music.lastQuery))
    facts.add("from", PanelText.words(music.provider))
    facts.add("by way of", PanelText.words(music.lastCommandReason ?? music.source))
    if let volume = music.queueState?.volume, (0...10).contains(volume) {
      facts.add("volume", Amount.fixed(volume * 100, 0) + "%")
    }
    switch music.replyHandoffMode {
    case "duck": facts.add("replies", "make it softer")
    case "pause": facts.add("replies", "make it pause")
    default: facts.add("replies", PanelText.words(music.replyHandoffMode))
    }
    return facts
  }

  private func queue(_ width: Int) -> [Line] {
    guard let queue = music.queueState, !queue.tracks.isEmpty else { return [] }
    var line = Line("queue ", .dim)
    let playing = queue.nowPlayingIndex.flatMap { queue.tracks.indices.contains($0) ? $0 : nil }
    line.add(playing.map { "\($0 + 1) of " } ?? "")
    line.add(PanelText.count(queue.tracks.count, "track"))
    let next = queue.tracks.dropFirst(playing.map { $0 + 1 } ?? 0).prefix(Self.most)
    let names = next.map { Self.name($0.title ?? $0.id, $0.artist) }.filter { !$0.isEmpty }
    if names.isEmpty { return [line.cut(to: width)] }
    line.add("  then ", .dim)
    return PanelText.paragraph(names.joined(separator: ", "), lead: line, width: width, most: 2)
  }

  private func question(_ width: Int) -> [Line] {
    let isAsking = music.disambiguationActive
    guard isAsking || !music.pendingResults.isEmpty || music.pendingQuery != nil else { return [] }
    var facts = FactFlow()
    facts.add(isAsking ? "? asks which" : "◌ looks for", Style(Palette.warning))
    facts.add(PanelText.quoted(music.pendingQuery))
    facts.add("for", Outside.person(music.pendingRequestedByUserId, in: session))
    if music.pendingPlatform != "auto" {
      facts.add("on", PanelText.words(music.pendingPlatform))
    }
    facts.add(Age.text(music.pendingRequestedAt, at: now), .dim)
    var grid = Grid([.right, .giving, .right, .left])
    for (index, result) in music.pendingResults.prefix(Self.most).enumerated() {
      let seconds = result.durationSeconds.flatMap { (0..<360_000).contains($0) ? Int64($0) : nil }
      grid.add([
        Line("  \(index + 1)", .dim), Line(Self.name(result.title ?? result.id, result.artist)),
        Line(seconds.map { Amount.clock($0) } ?? "", .dim),
        Line(PanelText.words(result.platform) ?? "", .dim),
      ])
    }
    return facts.lines(width: width) + grid.lines(width: width)
  }
}
