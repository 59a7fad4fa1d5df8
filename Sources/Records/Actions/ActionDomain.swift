import Core

/// What an action is about: the groups of the dashboard.
public enum ActionDomain: String, CaseIterable, Sendable {
  case llm, voice, asr, tts, text, memory, browser, media, code, discovery, automation
  case initiative, system
  /// No known kind, and no known prefix.
  case other
}
