/// The kinds of actions that are known, and what they belong to.
///
/// The set is open: servers send kinds that are not in the table.
public enum ActionKind {
  /// The known kinds by domain: the one table of the suite.
  public static let table: [(domain: ActionDomain, kinds: [String])] = [
    (.llm, ["llm_call", "llm_error", "llm_tool_call"]),
    (
      .voice,
      [
        "voice_session_start", "voice_session_end", "voice_turn_in", "voice_turn_out",
        "voice_runtime", "voice_error", "voice_warn", "voice_info", "voice_soundboard_play",
      ]
    ),
    (.asr, ["asr_call", "asr_error"]),
    (.tts, ["tts_call", "tts_error", "speech"]),
    (.text, ["sent_reply", "reply_skipped", "text_runtime", "direct"]),
    (
      .memory,
      [
        "memory_fact", "memory_embedding_call", "memory_embedding_error",
        "memory_reflection_start", "memory_reflection_complete", "memory_reflection_error",
      ]
    ),
    (
      .browser,
      [
        "browser_agent_session_turn", "browser_agent_reasoning", "browser_agent_final",
        "browser_browse_call", "browser_browse_failed", "browser_tool_result",
        "browser_tool_step", "browser_session",
      ]
    ),
    (
      .media,
      [
        "image_call", "image_error", "gif_call", "gif_error", "video_call", "video_error",
        "video_context_call", "video_context_error", "tiktok", "youtube", "url",
      ]
    ),
    (.code, ["code_agent_call", "code_agent_error"]),
    (.discovery, ["discovery_feed_snapshot", "search_call", "search_error"]),
    (.automation, ["automation_created", "automation_updated", "automation_post"]),
    (.initiative, ["initiative_post", "initiative_skip"]),
    (
      .system,
      [
        "bot_error", "bot_warning", "bot_runtime", "daily", "generic", "interval", "membership",
        "effect", "visualizer", "stream_discovery",
      ]
    ),
  ]

  /// The domain of a kind: of its longest known prefix (`voice_`, `memory_`),
  /// or of the kind itself where it is one word; `other` if neither is known.
  public static func domain(of kind: String) -> ActionDomain {
    var kind = kind
    return kind.withUTF8 { domain(of: UnsafeRawBufferPointer($0)) }
  }

  /// The domain of a kind given as UTF-8.
  public static func domain(of kind: UnsafeRawBufferPointer) -> ActionDomain {
    // No first word belongs to two domains, so that the longest known prefix
    // is the first word and its underscore.
    let underscore = kind.firstIndex(of: UInt8(ascii: "_"))
    let length = underscore.map { $0 + 1 } ?? kind.count
    for word in words where word.bytes.count == length {
      if kind.prefix(length).elementsEqual(word.bytes) { return word.domain }
    }
    return .other
  }

  private struct Word {
    let bytes: [UInt8]
    let domain: ActionDomain
  }

  private static let words: [Word] = {
    var seen: Set<String> = []
    var words: [Word] = []
    for (domain, kinds) in table {
      for kind in kinds {
        let word = kind.firstIndex(of: "_").map { String(kind[...$0]) } ?? kind
        if seen.insert(word).inserted {
          words.append(Word(bytes: Array(word.utf8), domain: domain))
        }
      }
    }
    return words
  }()

  /// Whether an action is one that the dashboard shows as an error: a kind that
  /// ends in `_error` or `_failed`, or a level of error.
  ///
  /// - Parameters:
  ///   - kind: the kind as UTF-8.
  ///   - level: the action's `level`, as UTF-8; empty when there is none.
  public static func isError(kind: UnsafeRawBufferPointer, level: UnsafeRawBufferPointer) -> Bool {
    level.elementsEqual("error".utf8) || hasSuffix(kind, "_error") || hasSuffix(kind, "_failed")
  }

  /// Whether an action is one that the dashboard shows as an error.
  public static func isError(kind: String, level: String? = nil) -> Bool {
    level == "error" || kind.hasSuffix("_error") || kind.hasSuffix("_failed")
  }

  /// Whether an action is a use of a tool, whatever its domain.
  ///
  /// - Parameter kind: the kind as UTF-8.
  public static func isTool(kind: UnsafeRawBufferPointer) -> Bool {
    kind.starts(with: "browser_".utf8) || tools.contains { kind.elementsEqual($0.utf8) }
  }

  /// Whether an action is a use of a tool, whatever its domain.
  public static func isTool(kind: String) -> Bool {
    kind.hasPrefix("browser_") || tools.contains(kind)
  }

  private static let tools = [
    "llm_tool_call", "search_call", "image_call", "gif_call", "video_call", "code_agent_call",
    "memory_embedding_call",
  ]

  private static func hasSuffix(_ kind: UnsafeRawBufferPointer, _ suffix: StaticString) -> Bool {
    kind.count >= suffix.utf8CodeUnitCount
      && kind.suffix(suffix.utf8CodeUnitCount).elementsEqual(
        UnsafeBufferPointer(start: suffix.utf8Start, count: suffix.utf8CodeUnitCount))
  }
}
