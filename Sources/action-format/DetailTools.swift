import Core
import Records
import Screen

/// Searches and the browser.
extension Phrase {
  /// `search_call`: what was asked, how much was found.
  mutating func search(_ action: Action) {
    quote(action.word("query") ?? action.content)
    if let count = action.number("returnedResults") {
      add(Amount.count(count) + (count == 1 ? " result" : " results"), .dim)
    }
    if let pages = action.number("pageReadsSucceeded"), pages > 0 {
      add(Amount.count(pages) + (pages == 1 ? " page read" : " pages read"), .dim)
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
    if let steps = action.number("steps", "totalSteps") {
      add(Amount.count(steps) + (steps == 1 ? " step" : " steps"), .dim)
    }
    if action.metadata?["hitStepLimit"]?.bool == true { add("step limit", Style(Palette.warning)) }
    took(action.milliseconds)
    add(action.word("model"), .dim)
    add(action.word("currentUrl", "url"), .dim)
  }

  private mutating func step(_ action: Action) {
    if let step = action.number("step") { add("step \(Amount.count(step))", .dim) }
  }
}
