package import Core
import Records

/// A voice action, in either spelling (Agent/Clanky/CONTRACT.md 3.5).
extension VoiceNews {
  init(_ action: Action) {
    let fields = action.metadata
    session = fields?["sessionId"]?.text
    guild = action.guild
    at = action.time
    user = action.user
    speaker = fields?.text("speakerName")
    textChannel = action.channel
    voiceChannel = fields?.text("voiceChannelId")
    mode = fields?.text("mode")
    mostSeconds = fields?.double("maxSessionMinutes").flatMap { minutes in
      minutes > 0 && minutes < 1e6 ? Int64(minutes * 60) : nil
    }
    event = VoiceEvent(action)
  }
}

extension VoiceEvent {
  /// Nil for one that means nothing here.
  fileprivate init?(_ action: Action) {
    let fields = action.metadata
    switch action.kind {
    case "voice_session_start": self = .begins
    case "voice_session_end": self = .ends(action.content ?? "")
    case "voice_turn_in": self = .personSpeaks
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
    case "realtime_tool_call_started":
      let call = begun(action, fields)
      return call.callId == nil ? nil : .callBegins(call)
    case "realtime_tool_call_completed", "realtime_tool_call_failed":
      let call = ended(action, fields, failed: name.hasSuffix("failed"))
      return call.callId == nil ? nil : .callEnds(call)
    case "voice_brain_tool_call":
      // The other path tells of a call once, at its end, and without an id.
      var call = ended(action, fields, failed: fields.bool("isError") == true)
      call.callId = fields.text("toolCallIndex").map {
        "brain_tool_\($0)_\(action.createdAt ?? "")"
      }
      return .callEnds(call)
    case "voice_membership_changed":
      var event = VoiceMembershipEvent(fields)
      guard let type = event.eventType else { return nil }
      event.eventType = type == "join" ? type : "leave"
      event.at = action.time
      return .membership(event)
    case "voice_latency_stage":
      return .answer(
        request: fields.text("requestId") ?? action.createdAt ?? "", VoiceLatency.Stages(fields))
    case "voice_turn_addressing":
      return .attention(
        fields.text("attentionMode").map { VoiceWake(attentionMode: $0) },
        isDirect: fields.bool("directAddressed") == true)
    case "bot_utterance_completed": return .agentEnds
    case "stream_watch_note_updated":
      guard let note = fields.text("note") else { return nil }
      return .seen(VoiceStreamWatch.Seen(note, at: action.time))
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
    let isAgent =
      fields.text("transcriptSource").map { $0 == "output" }
      ?? (fields.text("speakerName") == nil && name.hasSuffix("_transcript")
        && name != "file_asr_transcript")
    guard type.holds("delta") || type.holds("partial") || name.holds("partial") else {
      return .words(text, isAgent: isAgent)
    }
    return isAgent ? nil : .partialWords(text)
  }

  private static func begun(_ action: Action, _ fields: JSONValue) -> VoiceToolCall {
    var call = VoiceToolCall(fields)
    call.isHeard = true
    call.startedAt = action.time
    (call.completedAt, call.success, call.error) = (nil, nil, nil)
    return call
  }

  private static func ended(_ action: Action, _ fields: JSONValue, failed: Bool) -> VoiceToolCall {
    var call = VoiceToolCall(fields)
    call.isHeard = true
    call.startedAt = nil
    if let end = action.time, let took = call.runtimeMs, took >= 0, took < 1e12 {
      call.startedAt = end.adding(.milliseconds(-Int64(took)))
    }
    call.completedAt = action.time ?? .now()
    if failed && call.error == nil { call.error = "failed" }
    call.success = call.error == nil
    return call
  }
}

extension Action {
  fileprivate var time: Timestamp? { createdAt.flatMap { Timestamp(rfc3339: $0) } }
}

/// One thing that happened in voice.
package struct VoiceNews: Sendable {
  /// The session's id, and its guild's; nil when it does not say.
  package let session: String?, guild: String?
  /// When it happened.
  package let at: Timestamp?
  /// Whom it is about, and the name of that person.
  package let user: String?, speaker: String?
  /// What of the session it tells besides, for one that no state told of.
  package let textChannel: String?, voiceChannel: String?, mode: String?
  /// The most seconds that the session lasts.
  package let mostSeconds: Int64?
  /// What changes; nil for what changes nothing that is shown.
  package let event: VoiceEvent?
}

/// What happened in a session, as far as it changes what is shown of it.
package enum VoiceEvent: Sendable {
  /// The session begins; or ends, with the reason, which may be empty.
  case begins
  case ends(String)
  /// A person begins to speak.
  case personSpeaks
  /// The agent begins to speak, or has ended.
  case agentSpeaks, agentEnds
  /// Words of the person that are not yet final.
  case partialWords(String)
  /// What was said, by the person or by the agent.
  case words(String, isAgent: Bool)
  /// A call of a tool began: what is told of it then.
  case callBegins(VoiceToolCall)
  /// A call ended: what is told of it then.
  case callEnds(VoiceToolCall)
  /// Someone came or went.
  case membership(VoiceMembershipEvent)
  /// Stages of an answer, told one after the other.
  case answer(request: String, VoiceLatency.Stages)
  /// Whether the bot takes words as meant for it, and whether someone addressed it.
  case attention(VoiceWake?, isDirect: Bool)
  /// Something seen on a screen.
  case seen(VoiceStreamWatch.Seen)
  /// A frame of a screen came; with how many there are by now.
  case frame(total: Int?)
  /// Music plays, pauses or stops.
  case music(phase: String, title: String?, query: String?)
  /// A sound was played; with how many there were by now.
  case sound(count: Int?)
}
