import Core
import Records
import Screen

/// The line that matters for an action, built part by part.
///
/// Every part goes through `Plain`, so that nothing from outside can reach the
/// terminal in another way.
struct Phrase {
  private(set) var line = Line()
  /// About how many characters of a part are of use.
  var limit = Int.max
  var isWide = true
  var names = Names()

  mutating func detail(_ action: Action) {
    build(action)
    if line.spans.isEmpty { generic(action) }
  }

  private mutating func build(_ action: Action) {
    switch action.kind {
    case "llm_call", "llm_tool_call": modelCall(action)
    case "voice_session_start": sessionStart(action)
    case "voice_session_end": sessionEnd(action)
    case "voice_turn_in": turn(action, isAgent: false)
    case "voice_turn_out": turn(action, isAgent: true)
    case "voice_error": voiceFailure(action, Style.error)
    case "voice_warn": voiceFailure(action, Style.warning)
    case "voice_soundboard_play": soundboard(action)
    case "asr_call": recognition(action)
    case "tts_call", "speech": speech(action)
    case "sent_reply", "sent_message", "initiative_post", "direct": message(action)
    case "reply_skipped", "initiative_skip": skipped(action)
    case "reacted": reaction(action)
    case "memory_fact": fact(action)
    case "memory_embedding_call": embedding(action)
    case "memory_reflection_start", "memory_reflection_complete": reflection(action)
    case "browser_tool_step", "browser_tool_result": browserTool(action)
    case "search_call": search(action)
    case "code_agent_call": codeAgent(action)
    case let kind where ActionKind.isError(kind: kind) || action.level == "error": failed(action)
    default:
      switch action.domain {
      case .voice: voiceEvent(action)
      case .media: media(action)
      case .browser: browser(action)
      case .automation: automation(action)
      default: generic(action)
      }
    }
  }

  /// Adds a part after a dot; nothing for nil or blank text.
  mutating func add(_ text: String?, _ style: Style = .plain) {
    guard let text else { return }
    let plain = Plain.line(text, limit: limit)
    guard !plain.isEmpty else { return }
    if !line.spans.isEmpty { line.add(" · ", .dim) }
    line.add(plain, style)
  }

  mutating func quote(_ text: String?, _ style: Style = .plain) {
    guard let text, !Plain.line(text, limit: 1).isEmpty else { return }
    add("“\(Plain.line(text, limit: limit))”", style)
  }

  /// Adds who says what: `Mika: “words”`.
  mutating func say(_ speaker: String?, _ words: String?, _ style: Style = .plain) {
    guard let words, !Plain.line(words, limit: 1).isEmpty else {
      add(speaker, .bold)
      return
    }
    if let speaker {
      add(speaker, .bold)
      line.add(": ", .bold)
      line.add("“\(Plain.line(words, limit: limit))”", style)
    } else {
      quote(words, style)
    }
  }

  /// Adds a duration, in the warning colour when it is slow.
  mutating func took(_ milliseconds: Double?, slow: Double = .infinity) {
    guard let milliseconds else { return }
    add(Amount.duration(milliseconds), milliseconds > slow ? Style.warning : .dim)
  }

  /// Adds the use of a tool: `web_search(tides today)`.
  mutating func tool(_ name: String?, _ input: JSONValue?) {
    guard let name else { return }
    add(name, Style.tool)
    guard let input, !input.isNull else { return }
    let text = Plain.line(Brief.text(input, limit: min(limit, 1000)), limit: limit)
    if !text.isEmpty { line.add("(\(text))", .dim) }
  }

  /// Adds what came out: `→ ok: true, resultCount: 4`.
  mutating func result(_ value: JSONValue?) {
    guard let value, !value.isNull else { return }
    let text = Brief.text(value, limit: min(limit, 1000))
    if !text.isEmpty { add("→ " + text) }
  }

  /// Adds a number with its noun: `1 result`, `3 results`.
  mutating func count(
    _ number: Double?, _ many: String, one: String? = nil, _ style: Style = .dim
  ) {
    guard let number else { return }
    add("\(Amount.count(number)) \(number == 1 ? one ?? many : many)", style)
  }

  mutating func fail(_ text: String?) { add(text, Style.error) }

  /// A person's name where it is known, else the id as there is room for it.
  func person(_ id: String?) -> String? { id.flatMap { names[$0] } ?? self.id(id) }

  /// An id as there is room for it: whole, or its last four digits.
  func id(_ id: String?) -> String? {
    guard let id, !isWide, id.count > 6 else { return id }
    return "…" + id.suffix(4)
  }
}

/// The people of the feed by id, learnt from what passes: voice sessions list
/// their participants, and some voice events name the speaker. Records of type `name` tell
/// guilds as well, whose ids are those of no people.
struct Names {
  /// Names that are kept at most; what comes later stays an id.
  private static let most = 4096
  private var known: [String: String] = [:]

  /// The name of a user id, nil when it was never told.
  subscript(id: String) -> String? { known[id] }

  /// From a record that tells a name, or a voice state, on its own or inside the stats.
  mutating func learn(from record: JSONValue) {
    if record["type"]?.string == "name" {
      return keep(record["id"]?.text, record["name"]?.string)
    }
    let payload = record["data"] ?? record
    learn(sessions: payload["sessions"])
    learn(sessions: payload["runtime"]?["voice"]?["sessions"])
    learn(sessions: payload["stats"]?["runtime"]?["voice"]?["sessions"])
  }

  mutating func learn(from action: Action) {
    guard action.domain == .voice, action.word("transcriptSource") != "output" else { return }
    keep(action.word("memberUserId") ?? action.user, action.word("speakerName", "displayName"))
  }

  private mutating func learn(sessions: JSONValue?) {
    for session in sessions?.elements ?? [] {
      for person in session["participants"]?.elements ?? [] {
        keep(person["userId"]?.text, person["displayName"]?.string)
      }
    }
  }

  private mutating func keep(_ id: String?, _ name: String?) {
    guard let id, let name, !id.isEmpty, !name.isEmpty else { return }
    if known[id] != nil || known.count < Self.most { known[id] = name }
  }
}

extension Phrase {
  /// `llm_call`, `llm_tool_call`: model, tokens, tools, duration, words.
  mutating func modelCall(_ action: Action) {
    add(action.model ?? action.content)
    add(Usage(action).brief, .dim)
    tools(action)
    took(action.milliseconds)
    if let images = action.number("inputImages"), images > 0 { count(images, "images") }
    stop(action.word("stopReason", "finishReason"))
    result(action.metadata?[either: "result", "output", "toolResult"])
    if let isOk = action.metadata?["success"]?.bool, !isOk { fail("failed") }
    fail(action.failure)
    quote(action.word("transcript", "responseText"))
  }

  /// Each with its input where that was sent, else the names, else how many.
  private mutating func tools(_ action: Action) {
    if let calls = action.metadata?[either: "toolCalls", "tools"], calls.count > 0 {
      for call in calls.elements.prefix(8) {
        let function = call["function"] ?? call
        tool(
          call.string ?? function[either: "name", "toolName"]?.text,
          function[either: "input", "arguments", "args", "parameters"])
      }
      return
    }
    if let name = action.word("toolName", "tool") {
      tool(name, action.metadata?[either: "input", "arguments", "toolInput", "args"])
      return
    }
    let names = action.metadata?["toolNames"]
    if let names, names.kind == .array {
      add(names.elements.compactMap(\.text).joined(separator: ", "), Style.tool)
    } else if let text = names?.text, !text.isEmpty {
      add(text, Style.tool)
    } else if let calls = action.number("toolCallCount"), calls > 0 {
      count(calls, "tools", one: "tool", Style.tool)
    }
  }

  private mutating func stop(_ reason: String?) {
    guard let reason else { return }
    switch reason.lowercased() {
    case "end_turn", "stop", "tool_use", "tool_calls", "completed", "stop_sequence",
      "function_call":
      break
    default: add(reason, Style.warning)
    }
  }

  /// `asr_call`: model, language, words.
  mutating func recognition(_ action: Action) {
    add(action.word("model") ?? action.content)
    add(action.word("language"), .dim)
    took(action.milliseconds)
    quote(action.word("transcript", "text"))
  }

  /// `tts_call`, `speech`: model, voice, length, words.
  mutating func speech(_ action: Action) {
    add(action.word("model") ?? action.content)
    add(action.word("voice", "voiceId"), .dim)
    count(action.number("textChars", "characters"), "chars")
    took(action.milliseconds)
    quote(action.word("text", "transcript"))
  }

  /// `memory_embedding_call`: model and sizes.
  mutating func embedding(_ action: Action) {
    add(action.word("model") ?? action.content)
    count(action.number("inputChars"), "chars")
    count(action.number("vectorDims"), "dims")
    add(Usage(action).brief, .dim)
    took(action.milliseconds)
    add(action.word("traceSource"), .dim)
  }

  /// `image_call`, `video_call`, `gif_call` and the links that are watched.
  mutating func media(_ action: Action) {
    let subject = action.word("model", "title", "query") ?? action.content
    add(subject)
    for name in ["size", "variant", "status"] { add(action.word(name), .dim) }
    count(action.number("returnedResults"), "results")
    took(action.milliseconds)
    add(action.word("gifUrl", "url", "videoUrl", "imageUrl"), .dim)
    if action.word("model") == nil, action.content != subject { add(action.content) }
  }

  /// `code_agent_call`: who works, and on what.
  mutating func codeAgent(_ action: Action) {
    add(action.word("role"), .bold)
    add(action.word("model", "provider"), .dim)
    took(action.milliseconds)
    add(action.content)
  }
}

extension Phrase {
  /// `search_call`: what was asked, how much was found.
  mutating func search(_ action: Action) {
    quote(action.word("query") ?? action.content)
    count(action.number("returnedResults"), "results", one: "result")
    if let pages = action.number("pageReadsSucceeded"), pages > 0 {
      count(pages, "pages read", one: "page read")
    }
    add(action.word("providerUsed", "provider"), .dim)
    took(action.milliseconds, slow: 3000)
  }

  /// `browser_tool_step`: step, tool and its input; `browser_tool_result`: what
  /// came back.
  mutating func browserTool(_ action: Action) {
    step(action)
    let name = action.word("tool", "toolName") ?? action.content
    tool(name, action.metadata?[either: "input", "arguments"])
    guard let content = action.content, content != name else { return }
    if action.metadata?["isError"]?.bool == true { fail(content) } else { add("→ " + content) }
  }

  /// `browser_agent_*`, `browser_browse_call`, `browser_session`: step, words,
  /// how far it went.
  mutating func browser(_ action: Action) {
    step(action)
    add(action.content ?? action.word("instruction"))
    count(action.number("steps", "totalSteps"), "steps", one: "step")
    if action.metadata?["hitStepLimit"]?.bool == true { add("step limit", Style.warning) }
    took(action.milliseconds)
    add(action.word("model"), .dim)
    add(action.word("currentUrl", "url"), .dim)
  }

  private mutating func step(_ action: Action) {
    if let step = action.number("step") { add("step \(Amount.count(step))", .dim) }
  }
}
