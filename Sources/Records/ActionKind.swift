import Core

/// The kinds of actions that are known, and what they belong to (Agent/Clanky/CONTRACT.md 3.3).
///
/// The set is open: servers send kinds that are not in the table.
public enum ActionKind {
  /// The known kinds by domain, the one table of the suite: those that a
  /// dashboard sends, and those that its description has besides.
  public static let table: [(domain: ActionDomain, kinds: [String])] = [
    (.llm, words("llm_call llm_error llm_tool_call llm_lifecycle")),
    (
      .voice,
      words(
        """
        voice_session_start voice_session_end voice_turn_in voice_turn_out voice_runtime
        voice_error voice_warn voice_info voice_soundboard_play voice_music voice_lifecycle
        voice_intent_detected music_player
        """)
    ),
    (.asr, words("asr_call asr_error")),
    (.tts, words("tts_call tts_error speech")),
    (.text, words("sent_reply sent_message reply_skipped reacted text_runtime direct")),
    (
      .memory,
      words(
        """
        memory_fact memory_embedding_call memory_embedding_error memory_runtime
        memory_extract_call memory_reflection_start memory_reflection_complete
        memory_reflection_error
        """)
    ),
    (
      .browser,
      words(
        """
        browser_agent_session_turn browser_agent_reasoning browser_agent_final
        browser_browse_call browser_browse_failed browser_tool_result browser_tool_step
        browser_agent browser_session
        """)
    ),
    (
      .media,
      words(
        """
        image_call image_error gif_call gif_error video_call video_error video_context_call
        video_context_error tiktok youtube url
        """)
    ),
    (
      .code,
      words(
        """
        code_agent_call code_agent_error sub_agent_session_lifecycle swarm_activity_bridge_error
        swarm_server_status swarm_server_spawn_fallback swarm_server_spawn_failed
        swarm_spawn_request_accepted swarm_spawn_request_declined swarm_spawn_request_noop
        swarm_spawn_request_rate_limited swarm_spawn_request_received
        swarm_spawn_request_response_error swarm_task_cancel_error swarm_task_delivery_error
        swarm_task_progress swarm_task_result swarm_worker_adoption_timeout swarm_worker_exit
        swarm_worker_log_attached
        """)
    ),
    (.discovery, words("discovery_feed_snapshot search_call search_error search_service")),
    (
      .automation,
      words(
        """
        automation_created automation_updated automation_post automation_run automation_error
        """)
    ),
    (
      .initiative,
      words("initiative_post initiative_skip initiative_source_add initiative_source_remove")
    ),
    (
      .system,
      words(
        """
        bot_error bot_warning bot_runtime bot_lifecycle dashboard runtime minecraft_game_events
        minecraft_mcp_init_error minecraft_mcp_process minecraft_mcp_process_output
        minecraft_runtime_call minecraft_runtime_tool_error minecraft_narration_blocked
        minecraft_narration_candidate minecraft_narration_filtered minecraft_narration_post
        minecraft_narration_skip daily generic interval membership effect visualizer
        stream_discovery
        """)
    ),
  ]

  /// All of the table's kinds.
  public static let all = table.flatMap(\.kinds)

  private static func words(_ text: String) -> [String] {
    text.split { $0 == " " || $0 == "\n" }.map(String.init)
  }

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
    for word in firstWords where word.bytes.count == length {
      if kind.prefix(length).elementsEqual(word.bytes) { return word.domain }
    }
    return .other
  }

  private struct Word {
    let bytes: [UInt8]
    let domain: ActionDomain
  }

  private static let firstWords: [Word] = {
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

/// What an action is about: the groups of the dashboard.
public enum ActionDomain: String, CaseIterable, Sendable {
  case llm, voice, asr, tts, text, memory, browser, media, code, discovery, automation
  case initiative, system
  /// No known kind, and no known prefix.
  case other
}
