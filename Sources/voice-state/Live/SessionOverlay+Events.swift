import Core
import Records

extension SessionOverlay {
  /// Takes an event of the session (Agent/Clanky/CONTRACT.md 3.5); one that means
  /// nothing here changes nothing.
  mutating func take(_ action: Action) {
    let at = action.createdAt.flatMap { Timestamp(rfc3339: $0) }
    let fields = action.metadata
    let event = action.content ?? ""
    if let user = action.user, let name = fields?["speakerName"]?.string, !name.isEmpty {
      names[user] = name
    }
    switch action.kind {
    case "voice_session_end": ended = event.isEmpty ? "ended" : event
    case "voice_turn_in":
      isAgentSpeaking = false
      lastActivity = at
      if let user = action.user, let at { speaking[user] = at }
    case "voice_turn_out":
      isAgentSpeaking = true
      lastReply = at
      lastActivity = at
      speaking = [:]
    case "voice_soundboard_play":
      plays = fields?["playCount"]?.number ?? (plays ?? 0) + 1
      lastPlay = at
    case "voice_runtime", "voice_error":
      runtime(event, fields, user: action.user, at: at)
    default: break
    }
  }

  private mutating func runtime(
    _ event: String, _ fields: JSONValue?, user: String?, at: Timestamp?
  ) {
    switch event {
    case "realtime_tool_call_started": callStarted(fields, at)
    case "realtime_tool_call_completed": callEnded(fields, at, failed: false)
    case "realtime_tool_call_failed": callEnded(fields, at, failed: true)
    case "voice_brain_tool_call": brainCall(fields, at)
    case "voice_membership_changed": membership(fields, at)
    case "voice_latency_stage": latency(fields, at)
    case "voice_turn_addressing":
      if let mode = fields?["attentionMode"]?.string { attention = mode }
      if fields?["directAddressed"]?.bool == true, let at { lastAddress = (at, user) }
    case "bot_utterance_completed": isAgentSpeaking = false
    case "stream_watch_note_updated":
      if let text = fields?["note"]?.string {
        notes.append((text, fields?["provider"]?.string, fields?["model"]?.string, at))
        if notes.count > 24 { notes.removeFirst() }
      }
    case "voice_music_started", "voice_music_paused", "voice_music_stopped":
      let phases = ["started": "playing", "paused": "paused", "stopped": "idle"]
      music = SessionJSONMusic(
        phase: phases[String(event.dropFirst("voice_music_".count))] ?? "idle",
        title: fields?[either: "trackTitle", "title"]?.string ?? music?.title,
        query: fields?["query"]?.string ?? music?.query, at: at)
    default:
      if event.hasSuffix("_frame_ingested") {
        frames = fields?["totalFrames"]?.number ?? (frames ?? 0) + 1
      } else if event.hasSuffix("_response_done") {
        isAgentSpeaking = false
      } else {
        transcript(event, fields, user: user, at: at)
      }
    }
  }

  private mutating func transcript(
    _ event: String, _ fields: JSONValue?, user: String?, at: Timestamp?
  ) {
    guard let text = fields?["transcript"]?.string, !text.isEmpty else { return }
    let type = fields?[either: "transcriptEventType", "eventType"]?.string ?? ""
    let isPartial =
      type.holds("delta") || type.holds("partial") || event.holds("partial")
    let source = fields?["transcriptSource"]?.string
    let told = fields?["speakerName"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    let isAgent =
      source.map { $0 == "output" }
      ?? (told == nil && event.hasSuffix("_transcript") && event != "file_asr_transcript")
    // The agent is called what the state calls it.
    let speaker = isAgent ? nil : told ?? user.map { names[$0] ?? String($0.prefix(8)) }
    lastActivity = at
    if isPartial {
      guard !isAgent, let user else { return }
      partials[user] = OverlayPartial(speaker: speaker, text: text, at: at)
      return
    }
    if let user, !isAgent {
      partials[user] = nil
      speaking[user] = nil
    }
    add(OverlayTurn(isAgent: isAgent, speaker: speaker, text: text, at: at))
  }

  private mutating func callStarted(_ fields: JSONValue?, _ at: Timestamp?) {
    guard let fields, let id = fields["callId"]?.text else { return }
    // Told twice, by two streams, or after its end: not again.
    if calls.contains(where: { $0.id == id }) { return }
    change(call: id) { call in
      call.name = fields["toolName"]?.text
      call.type = fields["toolType"]?.text
      call.arguments = Self.json(fields["arguments"])
      call.startedAt = at
    }
  }

  private mutating func callEnded(_ fields: JSONValue?, _ at: Timestamp?, failed: Bool) {
    guard let fields, let id = fields["callId"]?.text else { return }
    change(call: id) { call in
      call.name = call.name ?? fields["toolName"]?.text
      call.type = call.type ?? fields["toolType"]?.text
      call.runtimeMs = fields["runtimeMs"]?.number
      call.completedAt = at ?? call.startedAt ?? .now()
      call.summary = Self.json(fields["outputSummary"])
      call.error = fields["error"]?.text
      call.success = !failed && call.error == nil
      if failed && call.error == nil { call.error = "failed" }
      if call.startedAt == nil, let at, let took = call.runtimeMs, took >= 0, took < 1e12 {
        call.startedAt = at.adding(.milliseconds(-Int64(took)))
      }
    }
  }

  private mutating func brainCall(_ fields: JSONValue?, _ at: Timestamp?) {
    guard let fields else { return }
    let index = fields["toolCallIndex"]?.text ?? "\(calls.count)"
    change(call: "brain_tool_\(index)_\(at?.rfc3339 ?? "")") { call in
      call.name = fields["toolName"]?.text
      call.arguments = Self.json(fields["toolInput"])
      call.runtimeMs = fields["durationMs"]?.number
      call.completedAt = at
      if let at, let took = call.runtimeMs, took >= 0, took < 1e12 {
        call.startedAt = at.adding(.milliseconds(-Int64(took)))
      }
      call.summary = Self.json(fields["toolResultSummary"])
      call.error = fields["error"]?.text
      call.success = fields["isError"]?.bool != true
      if call.success == false && call.error == nil { call.error = "failed" }
    }
  }

  private mutating func membership(_ fields: JSONValue?, _ at: Timestamp?) {
    guard let fields, let type = fields["eventType"]?.string else { return }
    let user = fields["memberUserId"]?.text
    let name = fields["displayName"]?.text
    let isJoin = type == "join"
    if let user {
      if isJoin { present[user] = name ?? user } else { present[user] = nil }
      if isJoin { gone.remove(user) } else { gone.insert(user) }
      if let name { names[user] = name }
    }
    memberships.append(OverlayMembership(user: user, name: name, isJoin: isJoin, at: at))
    if memberships.count > Self.mostMemberships { memberships.removeFirst() }
  }

  private mutating func latency(_ fields: JSONValue?, _ at: Timestamp?) {
    guard let fields else { return }
    let request = fields["requestId"]?.text ?? at?.rfc3339 ?? ""
    var entry = OverlayLatency(request: request)
    if let index = latencies.firstIndex(where: { $0.request == request }) {
      entry = latencies.remove(at: index)
    }
    entry.at = at
    for (stage, name) in OverlayLatency.stages.enumerated() {
      if let value = fields[name]?.number, value >= 0 { entry.values[stage] = value }
    }
    entry.queueWaitMs = fields["queueWaitMs"]?.number ?? entry.queueWaitMs
    entry.queueDepth = fields["pendingQueueDepth"]?.number ?? entry.queueDepth
    guard entry.total != nil else { return }
    latencies.append(entry)
    if latencies.count > Self.mostLatencies { latencies.removeFirst() }
  }

  private static func json(_ value: JSONValue?) -> String? {
    guard let value, !value.isNull else { return nil }
    return value.compact()
  }
}
