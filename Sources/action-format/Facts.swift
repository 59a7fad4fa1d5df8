import Core
import Records
import Screen

extension Action {
  /// The first of these members that says something; numbers and truth values as spelled.
  func word(_ names: String...) -> String? {
    for name in names {
      if let text = metadata?[name]?.text, !text.isEmpty { return text }
    }
    return nil
  }

  /// The first member of the metadata with one of these names that is a number.
  func number(_ names: String...) -> Double? {
    for name in names {
      if let number = metadata?[name]?.number { return number }
    }
    return nil
  }

  /// The model's name: of the metadata, or of a content `provider:model`.
  var model: String? {
    if let model = word("model", "responseModel") { return model }
    guard let content, let colon = content.firstIndex(of: ":"), !content.contains(" ") else {
      return nil
    }
    return String(content[content.index(after: colon)...])
  }

  /// Kinds differ in the name (Agent/Clanky/CONTRACT.md 3.4), and most carry none.
  var milliseconds: Double? {
    if let value = number(
      "durationMs", "runtimeMs", "latencyMs", "elapsedMs", "totalMs", "duration_ms", "latency_ms")
    {
      return value
    }
    if let seconds = number("durationSeconds") { return seconds * 1000 }
    return metadata?["performance"]?["totalMs"]?.number
  }

  var failure: String? {
    if let error = metadata?["error"], error.isObject {
      return error[either: "message", "error", "code"]?.text ?? error.compact(limit: 400)
    }
    return word("errorMessage", "error", "lastError", "errorName")
  }

  var speaker: String? {
    word(
      "speakerName", "displayName", "userName", "username", "speaker", "authorName", "participant")
  }
}

struct Usage {
  let input: Double?, output: Double?, cacheRead: Double?, cacheWrite: Double?

  init(_ action: Action) {
    let metadata = action.metadata
    let usage =
      metadata?[either: "usage", "responseUsage"] ?? metadata?["llm"]?["usage"] ?? metadata
    input = usage?[either: "inputTokens", "input_tokens", "promptTokens", "prompt_tokens"]?.number
    output =
      usage?[either: "outputTokens", "output_tokens", "completionTokens", "completion_tokens"]?
      .number
    cacheRead =
      usage?[
        either: "cacheReadTokens", "cacheReadInputTokens", "cache_read_input_tokens",
        "cachedTokens"]?.number
    cacheWrite =
      usage?[either: "cacheWriteTokens", "cacheCreationInputTokens", "cache_creation_input_tokens"]?
      .number
  }

  /// `1.5k in, 1.1k cached, 84 out`; nil when no token was counted.
  var brief: String? {
    guard input != nil || output != nil else { return nil }
    var parts: [String] = []
    if let input { parts.append("\(Amount.count(input)) in") }
    if let cacheRead, cacheRead > 0 { parts.append("\(Amount.count(cacheRead)) cached") }
    if let output { parts.append("\(Amount.count(output)) out") }
    return parts.joined(separator: ", ")
  }

  /// Every count in full; nil when no token was counted.
  var full: String? {
    let parts = [
      (input, "in"), (output, "out"), (cacheRead, "cache read"), (cacheWrite, "cache write"),
    ].compactMap { count, name in count.map { "\(Amount.fixed($0, 0)) \(name)" } }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}
