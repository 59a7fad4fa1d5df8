import Core
import Records

/// What happened in a session, as far as it changes what is shown of it
/// (Agent/Clanky/CONTRACT.md 3.5).
enum VoiceEvent {
  /// A person begins to speak.
  case personSpeaks(user: String?)
  /// The agent begins to speak, or has ended.
  case agentSpeaks, agentEnds
  /// Words of a person that are not yet final.
  case partialWords(String, user: String, speaker: String?)
  /// What was said: by the agent when `isAgent`.
  case words(String, isAgent: Bool, user: String?, speaker: String?)
  /// A call of a tool began: what is told of it then.
  case callBegins(VoiceToolCall)
  /// A call ended: what is told of it then.
  case callEnds(VoiceToolCall)
  case membership(VoiceMembershipEvent)
  /// Stages of an answer, told one after the other.
  case answer(request: String, VoiceLatency.Stages)
  case attention(mode: String?, isDirect: Bool, user: String?)
  /// Something seen on a screen.
  case seen(VoiceStreamWatch.Seen)
  /// A frame of a screen came; with how many there are by now.
  case frame(total: Int?)
  case music(phase: String, title: String?, query: String?)
  /// A sound was played; with how many there were by now.
  case sound(count: Int?)

  /// - Parameter action: any action of a session.
  /// - Returns: nil for one that means nothing here.
  init?(_ action: Action) {
    let fields = action.metadata
    switch action.kind {
    case "voice_turn_in": self = .personSpeaks(user: action.user)
    case "voice_turn_out": self = .agentSpeaks
    case "voice_soundboard_play": self = .sound(count: fields?.int("playCount"))
    case "voice_runtime", "voice_error":
      guard let fields, let event = Self.runtime(action, fields) else { return nil }
      self = event
    default: return nil
    }
  }

  private static func runtime(_ action: Action, _ fields: JSONValue) -> VoiceEvent? {
    let name = action.content ?? ""
    switch name {
    case "realtime_tool_call_started": return callBegins(action, fields)
    case "realtime_tool_call_completed": return callEnds(action, fields, failed: false)
    case "realtime_tool_call_failed": return callEnds(action, fields, failed: true)
    case "voice_brain_tool_call": return brainCall(action, fields)
    case "voice_membership_changed":
      guard let type = fields.text("eventType") else { return nil }
      return .membership(
        VoiceMembershipEvent(
          userId: fields.text("memberUserId"), displayName: fields.text("displayName"),
          eventType: type == "join" ? type : "leave", at: action.time))
    case "voice_latency_stage":
      return .answer(
        request: fields.text("requestId") ?? action.createdAt ?? "", VoiceLatency.Stages(fields))
    case "voice_turn_addressing":
      return .attention(
        mode: fields.text("attentionMode"), isDirect: fields.bool("directAddressed") == true,
        user: action.user)
    case "bot_utterance_completed": return .agentEnds
    case "stream_watch_note_updated":
      guard let note = fields.text("note") else { return nil }
      return .seen(VoiceStreamWatch.Seen(text: note, at: action.time))
    case "voice_music_started", "voice_music_paused", "voice_music_stopped":
      let phases = ["voice_music_started": "playing", "voice_music_paused": "paused"]
      return .music(
        phase: phases[name] ?? "idle", title: fields.text("trackTitle", "title"),
        query: fields.text("query"))
    case _ where name.hasSuffix("_frame_ingested"): return .frame(total: fields.int("totalFrames"))
    case _ where name.hasSuffix("_response_done"): return .agentEnds
    default: return words(action, fields)
    }
  }

  private static func words(_ action: Action, _ fields: JSONValue) -> VoiceEvent? {
    guard let text = fields.text("transcript") else { return nil }
    let name = action.content ?? ""
    let type = fields.text("transcriptEventType", "eventType") ?? ""
    let speaker = fields.text("speakerName")
    let isAgent =
      fields.text("transcriptSource").map { $0 == "output" }
      ?? (speaker == nil && name.hasSuffix("_transcript") && name != "file_asr_transcript")
    guard type.holds("delta") || type.holds("partial") || name.holds("partial") else {
      return .words(text, isAgent: isAgent, user: action.user, speaker: speaker)
    }
    guard !isAgent, let user = action.user else { return nil }
    return .partialWords(text, user: user, speaker: speaker)
  }

  private static func callBegins(_ action: Action, _ fields: JSONValue) -> VoiceEvent? {
    guard let id = fields.text("callId") else { return nil }
    return .callBegins(
      VoiceToolCall(
        callId: id, toolName: fields.text("toolName"), toolType: fields.text("toolType"),
        arguments: fields[either: "arguments"], startedAt: action.time, isHeard: true))
  }

  private static func callEnds(
    _ action: Action, _ fields: JSONValue, failed: Bool
  ) -> VoiceEvent? {
    guard let id = fields.text("callId") else { return nil }
    let took = fields.double("runtimeMs")
    let error = fields.text("error")
    return .callEnds(
      VoiceToolCall(
        callId: id, toolName: fields.text("toolName"), toolType: fields.text("toolType"),
        startedAt: start(action, took), completedAt: action.time ?? .now(), runtimeMs: took,
        success: !failed && error == nil, outputSummary: fields[either: "outputSummary"],
        error: error ?? (failed ? "failed" : nil), isHeard: true))
  }

  /// A call of the other path: told once, at its end, and without an id.
  private static func brainCall(_ action: Action, _ fields: JSONValue) -> VoiceEvent {
    let took = fields.double("durationMs")
    let failed = fields.bool("isError") == true
    let index = fields.text("toolCallIndex")
    return .callEnds(
      VoiceToolCall(
        callId: index.map { "brain_tool_\($0)_\(action.createdAt ?? "")" },
        toolName: fields.text("toolName"), arguments: fields[either: "toolInput"],
        startedAt: start(action, took), completedAt: action.time ?? .now(), runtimeMs: took,
        success: !failed, outputSummary: fields[either: "toolResultSummary"],
        error: fields.text("error") ?? (failed ? "failed" : nil), isHeard: true))
  }

  /// When a call began that has ended now.
  private static func start(_ action: Action, _ took: Double?) -> Timestamp? {
    guard let end = action.time, let took, took >= 0, took < 1e12 else { return nil }
    return end.adding(.milliseconds(-Int64(took)))
  }
}

extension Action {
  /// When it was done, nil when the record does not say.
  var time: Timestamp? { createdAt.flatMap { Timestamp(rfc3339: $0) } }
}
