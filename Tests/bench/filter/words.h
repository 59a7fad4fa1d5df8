/* What the records of the bench are made of. */

static const char *const kinds[] = {
    "llm_error", "llm_call", "llm_tool_call", "voice_session_start", "voice_session_end",
    "voice_turn_in", "voice_turn_out", "voice_runtime", "voice_error", "voice_warn", "voice_info",
    "voice_soundboard_play", "asr_call", "asr_error", "tts_call", "tts_error", "speech",
    "sent_reply", "reply_skipped", "text_runtime", "direct", "memory_fact",
    "memory_embedding_call", "memory_embedding_error", "memory_reflection_start",
    "memory_reflection_complete", "memory_reflection_error", "browser_agent_session_turn",
    "browser_agent_reasoning", "browser_agent_final", "browser_browse_call",
    "browser_browse_failed", "browser_tool_result", "browser_tool_step", "browser_session",
    "image_call", "image_error", "gif_call", "gif_error", "video_call", "video_error",
    "video_context_call", "video_context_error", "tiktok", "youtube", "url", "code_agent_call",
    "code_agent_error", "discovery_feed_snapshot", "search_call", "search_error",
    "automation_created", "automation_updated", "automation_post", "initiative_post",
    "initiative_skip", "bot_error", "bot_warning", "bot_runtime", "daily", "generic", "interval",
    "membership", "effect", "visualizer", "stream_discovery", "sent_message", "reacted",
    "voice_intent_detected", "dashboard", "llm_errors", "llm_erro", "xllm_error",
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Text as it stands in a JSON string. "rate" and "limit" are not among these:
   the search of T4 finds what was put there for it and nothing else. */
static const char *const words[] = {
    "the ", "of ", "and ", "a ", "to ", "in ", "is ", "you ", "that ", "it ", "he ", "was ",
    "for ", "on ", "are ", "as ", "with ", "his ", "they ", "at ", "be ", "this ", "have ",
    "from ", "or ", "one ", "had ", "by ", "channel ", "message ", "answer ", "context ",
    "conversation ", "participant ", "tool ", "model ", "summary ", "provider ", "session ",
    "transcript ", "speaker ", "memory ", "question ", "because ", "without ", "between ",
    "yesterday ", "tomorrow ", "instructions: ", "respond, ", "music; ", "playlist. ",
    "screen ", "voice ", "guild ", "reply ", "error ", "kind ", "timeout ", "attempt 3 ",
    "2026 ", "0.25 ", "https://example.org/a/b?c=d ", "[link] ",
};
enum { WORDS = sizeof words / sizeof *words };

/* What keeps a reader of text honest: escapes, other scripts, quotes. */
static const char *const oddities[] = {
    "\\n", "\\n\\n", "\\n- ", "\\\"quoted\\\" ", "\\t", "caf\\u00e9 ", "caf\xc3\xa9 ",
    "\\ud83d\\ude00 ", "\xf0\x9f\x98\x80 ", "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e ", "C:\\\\temp ",
    "a\\/b ", "{ \\\"a\\\": [1, 2] } ", "\xe2\x80\xa8", "]}, ", "\\u2014 ",
};
enum { ODDITIES = sizeof oddities / sizeof *oddities };

/* In a content, these hold the text of T4 ... */
static const char *const hits[] = {
    "rate limit ", "Rate Limit ", "RATE LIMIT: ", "rate\\u0020limit ", "R\\u0061te lImIt ",
    "(rate limits) ",
};
enum { HITS = sizeof hits / sizeof *hits };

/* ... and these do not: a carriage return, a line feed, a backslash. */
static const char *const misses[] = {
    "\\rate limit ", "rate\\nlimit ", "rate\\\\u0020limit ", "rat\xc3\xa9 limit ",
};
enum { MISSES = sizeof misses / sizeof *misses };
