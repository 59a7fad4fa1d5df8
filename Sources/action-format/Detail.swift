import Core
import Records
import Screen

/// The line that matters for an action, by its kind.
enum Detail {
  /// - Parameters:
  ///   - action: any action; whatever its members are, there is a line for it,
  ///     empty only when the action says nothing.
  ///   - limit: about how many characters of a part are of use.
  ///   - isWide: whether there is room for whole ids.
  ///   - names: the people who are known by name.
  static func line(
    _ action: Action, limit: Int = .max, isWide: Bool = true, names: Names = Names()
  ) -> Line {
    var phrase = Phrase(limit: limit, isWide: isWide, names: names)
    build(&phrase, action)
    if phrase.line.spans.isEmpty { phrase.generic(action) }
    return phrase.line
  }

  private static func build(_ phrase: inout Phrase, _ action: Action) {
    switch action.kind {
    case "llm_call", "llm_tool_call": phrase.modelCall(action)
    case "voice_session_start": phrase.sessionStart(action)
    case "voice_session_end": phrase.sessionEnd(action)
    case "voice_turn_in": phrase.turn(action, isAgent: false)
    case "voice_turn_out": phrase.turn(action, isAgent: true)
    case "voice_error": phrase.voiceFailure(action, Style(Palette.error))
    case "voice_warn": phrase.voiceFailure(action, Style(Palette.warning))
    case "voice_soundboard_play": phrase.soundboard(action)
    case "asr_call": phrase.recognition(action)
    case "tts_call", "speech": phrase.speech(action)
    case "sent_reply", "sent_message", "initiative_post", "direct": phrase.message(action)
    case "reply_skipped", "initiative_skip": phrase.skipped(action)
    case "reacted": phrase.reaction(action)
    case "memory_fact": phrase.fact(action)
    case "memory_embedding_call": phrase.embedding(action)
    case "memory_reflection_start", "memory_reflection_complete": phrase.reflection(action)
    case "browser_tool_step", "browser_tool_result": phrase.browserTool(action)
    case "search_call": phrase.search(action)
    case "code_agent_call": phrase.codeAgent(action)
    case let kind where ActionKind.isError(kind: kind): phrase.failed(action)
    default: buildByDomain(&phrase, action)
    }
  }

  private static func buildByDomain(_ phrase: inout Phrase, _ action: Action) {
    if action.level == "error" {
      phrase.failed(action)
      return
    }
    switch action.domain {
    case .voice: phrase.voiceEvent(action)
    case .media: phrase.media(action)
    case .browser: phrase.browser(action)
    case .automation: phrase.automation(action)
    default: phrase.generic(action)
    }
  }
}
