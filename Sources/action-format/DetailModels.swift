import Core
import Records
import Screen

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
