import Core
import Records

/// What the coding agent says, read aloud (Agent/Riff/CONTRACT.md 4).
extension RiffService {
  /// `GET /riff/narrate-poll`: held until a turn ends.
  func narrate(_ query: QueryParameters) async -> WholeAnswer {
    guard let after = query.epoch("after") else { return .error("bad after", status: 400) }
    let slug = query["cwd_slug"].flatMap { $0.isEmpty ? nil : $0 }
    if let slug, !TranscriptFolder.isSlug(slug) { return .error("bad cwd_slug", status: 400) }
    guard let narrator = parts.narrator else { return .error("no speaker", status: 503) }
    guard let listener = listeners.take() else { return .busy }
    let turn = await narrator.turn(slug: slug, after: after)
    withExtendedLifetime(listener) {}
    guard let turn else { return WholeAnswer(status: 204, type: "", body: []) }
    switch await narrator.say(turn.prose) {
    case .audio(let sound):
      return .json(
        RecordText().number("ts", Double(turn.time) / 1000)
          .string("audio_b64", Base64.text(sound)).number("chars", turn.prose.count))
    case .busy: return .busy
    case .failed(let reason):
      diagnostics.errorRarely("speaker", reason)
      return .error("the speaker failed: \(reason)", status: 502)
    }
  }
}
