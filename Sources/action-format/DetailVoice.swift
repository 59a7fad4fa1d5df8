import Core
import Records
import Screen

/// What an event of voice is about, by the members that it has.
struct VoiceEvent {
  /// What stands at a terminal before or instead of `voice_runtime`, which most rows of a
  /// conversation are.
  let label: String
  let tell: (inout Phrase) -> Void

  init?(_ action: Action) {
    let event = action.content ?? ""
    if action.word("toolName") != nil {
      (label, tell) = ("tool", { $0.voiceTool(action) })
    } else if let words = action.word("transcript") {
      let type = action.word("eventType", "transcriptEventType") ?? ""
      let isPartial = event.holds("partial") || type.holds("delta") || type.holds("partial")
      let isAgent =
        action.word("transcriptSource") == "output" || event.hasSuffix("realtime_transcript")
      label = isAgent ? "says" : isPartial ? "hears" : "heard"
      tell = { phrase in
        let speaker = action.speaker ?? (isAgent ? "agent" : phrase.person(action.user))
        phrase.say(speaker, isPartial ? words + " …" : words, isPartial ? .dim : .plain)
      }
    } else if let words = action.word("heard") {
      label = "decides"
      tell = { phrase in
        phrase.say(action.speaker ?? phrase.person(action.user), words)
        if let isAllowed = action.metadata?["allow"]?.bool {
          phrase.add(isAllowed ? "answered" : "let pass", isAllowed ? .positive : .dim)
        }
        phrase.add(action.word("reason"), .dim)
      }
    } else if let words = action.word("replyText", "replyTextPreview", "utteranceTextPreview") {
      label = "reply"
      tell = { phrase in
        phrase.say("agent", words)
        phrase.add(event, .dim)
        phrase.add(action.word("skipCause", "reason"), .dim)
      }
    } else if let stage = action.word("stage") {
      (label, tell) = ("timing", { $0.latency(action, stage) })
    } else if let status = action.word("responseStatus") {
      label = "answer"
      tell = { phrase in
        phrase.add(event)
        phrase.add(status, status == "completed" ? .dim : .warning)
        phrase.add(action.word("responseModel"), .dim)
        phrase.add(Usage(action).brief, .dim)
      }
    } else if let name = action.speaker, let type = action.word("eventType") {
      label = "people"
      tell = { phrase in
        phrase.add(name, .bold)
        phrase.add(type == "join" ? "joined" : type == "leave" ? "left" : type)
      }
    } else {
      return nil
    }
  }
}

/// Voice: sessions, turns, and the many events of `voice_runtime`.
extension Phrase {
  /// `voice_session_start`: mode, channel, limits.
  mutating func sessionStart(_ action: Action) {
    add("joined", Style.positive)
    add(action.word("mode"))
    add(id(action.word("voiceChannelId") ?? joinedChannel(action)), .dim)
    if let minutes = action.number("maxSessionMinutes") {
      add("at most \(Amount.duration(minutes * 60_000))", .dim)
    }
    if action.metadata == nil || joinedChannel(action) == nil { add(action.content, .dim) }
  }

  private func joinedChannel(_ action: Action) -> String? {
    guard let content = action.content, content.hasPrefix("voice_joined:") else { return nil }
    return String(content.dropFirst("voice_joined:".count))
  }

  /// `voice_session_end`: how long, why.
  mutating func sessionEnd(_ action: Action) {
    add("left")
    if let milliseconds = action.milliseconds { add("after \(Amount.duration(milliseconds))") }
    add(action.content ?? action.word("reason", "endReason"))
    add(action.word("mode"), .dim)
  }

  /// `voice_turn_in`, `voice_turn_out`: speaker and words; the words are seldom
  /// sent, then the event's name.
  mutating func turn(_ action: Action, isAgent: Bool) {
    let speaker = action.speaker ?? (isAgent ? "agent" : person(action.user))
    let words = action.word("transcript", "text", "utterance", "heard", "words")
    say(speaker, words)
    if words == nil { add(action.content, .dim) }
    took(action.milliseconds)
    add(action.word("promotionReason"), .dim)
  }

  /// `voice_runtime`, `voice_info` and other voice events: words, tools and
  /// latencies where there are some, else the event with its members.
  mutating func voiceEvent(_ action: Action) {
    if let event = VoiceEvent(action) { event.tell(&self) } else { generic(action) }
  }

  fileprivate mutating func voiceTool(_ action: Action) {
    let event = action.content ?? ""
    tool(
      action.word("toolName"), action.metadata?[either: "arguments", "toolInput", "input", "args"])
    if event.hasSuffix("_started") { add("started", .dim) }
    took(action.milliseconds, slow: 3000)
    let error = action.failure
    if error != nil || action.metadata?["isError"]?.bool == true || event.hasSuffix("_failed") {
      fail(error ?? "failed")
    } else {
      result(action.metadata?[either: "outputSummary", "toolResultSummary", "result", "output"])
    }
  }

  fileprivate mutating func latency(_ action: Action, _ stage: String) {
    let stages = [
      ("asr", action.number("finalizedToAsrStartMs")),
      ("generation", action.number("asrToGenerationStartMs")),
      ("reply", action.number("generationToReplyRequestMs")),
      ("audio", action.number("replyRequestToAudioStartMs")),
    ]
    add(stage)
    let known = stages.compactMap(\.1)
    if !known.isEmpty { took(known.reduce(0, +), slow: 2000) }
    for (name, milliseconds) in stages {
      if let milliseconds { add("\(name) \(Amount.duration(milliseconds))", .dim) }
    }
  }

  /// `voice_error`, `voice_warn`: the event, and its tool where it is one's.
  mutating func voiceFailure(_ action: Action, _ style: Style) {
    if action.word("toolName") != nil {
      voiceTool(action)
    } else {
      add(action.content, style)
      if let failure = action.failure, failure != action.content { add(failure, style) }
      add(action.word("code"), .dim)
    }
  }

  /// `voice_soundboard_play`: which sound, the how manyth.
  mutating func soundboard(_ action: Action) {
    add(
      action.word("soundName", "name")
        ?? action.content.map { Int64($0) == nil ? $0 : "sound \($0)" })
    if let count = action.number("playCount") { add("play \(Amount.count(count))", .dim) }
    add(action.word("reason"), .dim)
  }
}
