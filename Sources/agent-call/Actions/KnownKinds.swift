import Core

/// The kinds of actions that backends are known to log: what older actions can
/// be asked for by.
enum KnownKinds {
  /// Those of the suite's table, and those that real servers send besides.
  static let all: [String] = ActionKind.table.flatMap(\.kinds) + others

  private static let others = [
    "llm_lifecycle", "voice_music", "voice_lifecycle", "music_player", "sent_message", "reacted",
    "memory_runtime", "browser_agent", "search_service", "sub_agent_session_lifecycle",
    "swarm_activity_bridge_error", "swarm_server_status", "swarm_server_spawn_fallback",
    "swarm_server_spawn_failed", "swarm_spawn_request_accepted", "swarm_spawn_request_declined",
    "swarm_spawn_request_noop", "swarm_spawn_request_rate_limited",
    "swarm_spawn_request_received", "swarm_spawn_request_response_error",
    "swarm_task_cancel_error", "swarm_task_delivery_error", "swarm_task_progress",
    "swarm_task_result", "swarm_worker_adoption_timeout", "swarm_worker_exit",
    "swarm_worker_log_attached", "automation_run", "automation_error", "initiative_source_add",
    "initiative_source_remove", "minecraft_game_events", "minecraft_mcp_init_error",
    "minecraft_mcp_process", "minecraft_mcp_process_output", "minecraft_runtime_call",
    "minecraft_runtime_tool_error", "minecraft_narration_blocked",
    "minecraft_narration_candidate", "minecraft_narration_filtered", "minecraft_narration_post",
    "minecraft_narration_skip", "bot_lifecycle", "dashboard", "runtime", "voice_intent_detected",
    "memory_extract_call",
  ]
}
