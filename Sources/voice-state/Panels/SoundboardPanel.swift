import Core
import Screen

/// How often sounds were played, and how willing the bot is to play one.
struct SoundboardPanel: Panel {
  static let name = "soundboard"
  static let title = "Soundboard"

  private let soundboard: VoiceSoundboard
  private let context: VoiceGenerationContext?
  private let now: Timestamp

  init?(_ session: VoiceSession, at now: Timestamp) {
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
