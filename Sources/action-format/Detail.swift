import Core
import Records
import Screen

/// The line that matters for an action, built part by part.
///
/// Every part goes through `Plain`, so that nothing from outside can reach the
/// terminal in another way.
struct Phrase {
  private(set) var line = Line()
  /// About how many characters of a part are of use.
  var limit = Int.max
  var isWide = true
  var names = Names()

  mutating func detail(_ action: Action) {
    build(action)
    if line.spans.isEmpty { generic(action) }
  }

  private mutating func build(_ action: Action) {
    switch action.kind {
    case "llm_call", "llm_tool_call": modelCall(action)
    case "voice_session_start": sessionStart(action)
    case "voice_session_end": sessionEnd(action)
    case "voice_turn_in": turn(action, isAgent: false)
    case "voice_turn_out": turn(action, isAgent: true)
    case "voice_error": voiceFailure(action, Style.error)
    case "voice_warn": voiceFailure(action, Style.warning)
    case "voice_soundboard_play": soundboard(action)
    case "asr_call": recognition(action)
    case "tts_call", "speech": speech(action)
    case "sent_reply", "sent_message", "initiative_post", "direct": message(action)
    case "reply_skipped", "initiative_skip": skipped(action)
    case "reacted": reaction(action)
    case "memory_fact": fact(action)
    case "memory_embedding_call": embedding(action)
    case "memory_reflection_start", "memory_reflection_complete": reflection(action)
    case "browser_tool_step", "browser_tool_result": browserTool(action)
    case "search_call": search(action)
    case "code_agent_call": codeAgent(action)
    case let kind where ActionKind.isError(kind: kind) || action.level == "error": failed(action)
    default:
      switch action.domain {
      case .voice: voiceEvent(action)
      case .media: media(action)
      case .browser: browser(action)
      case .automation: automation(action)
      default: generic(action)
      }
    }
  }

  /// Adds a part after a dot; nothing for nil or blank text.
  mutating func add(_ text: String?, _ style: Style = .plain) {
    guard let text else { return }
    let plain = Plain.line(text, limit: limit)
    guard !plain.isEmpty else { return }
    if !line.spans.isEmpty { line.add(" · ", .dim) }
    line.add(plain, style)
  }

  mutating func quote(_ text: String?, _ style: Style = .plain) {
    guard let text, !Plain.line(text, limit: 1).isEmpty else { return }
    add("“\(Plain.line(text, limit: limit))”", style)
  }

  /// Adds who says what: `Mika: “words”`.
  mutating func say(_ speaker: String?, _ words: String?, _ style: Style = .plain) {
    guard let words, !Plain.line(words, limit: 1).isEmpty else {
      add(speaker, .bold)
      return
    }
    if let speaker {
      add(speaker, .bold)
      line.add(": ", .bold)
      line.add("“\(Plain.line(words, limit: limit))”", style)
    } else {
      quote(words, style)
    }
  }

  /// Adds a duration, in the warning colour when it is slow.
  mutating func took(_ milliseconds: Double?, slow: Double = .infinity) {
    guard let milliseconds else { return }
    add(Amount.duration(milliseconds), milliseconds > slow ? Style.warning : .dim)
  }

  /// Adds the use of a tool: `web_search(tides today)`.
  mutating func tool(_ name: String?, _ input: JSONValue?) {
    guard let name else { return }
    add(name, Style.tool)
    guard let input, !input.isNull else { return }
    let text = Plain.line(Brief.text(input, limit: min(limit, 1000)), limit: limit)
    if !text.isEmpty { line.add("(\(text))", .dim) }
  }

  /// Adds what came out: `→ ok: true, resultCount: 4`.
  mutating func result(_ value: JSONValue?) {
    guard let value, !value.isNull else { return }
    let text = Brief.text(value, limit: min(limit, 1000))
    if !text.isEmpty { add("→ " + text) }
  }

  /// Adds a number with its noun: `1 result`, `3 results`.
  mutating func count(
    _ number: Double?, _ many: String, one: String? = nil, _ style: Style = .dim
  ) {
    guard let number else { return }
    add("\(Amount.count(number)) \(number == 1 ? one ?? many : many)", style)
  }

  mutating func fail(_ text: String?) { add(text, Style.error) }

  /// A person's name where it is known, else the id as there is room for it.
  func person(_ id: String?) -> String? { id.flatMap { names[$0] } ?? self.id(id) }

  /// An id as there is room for it: whole, or its last four digits.
  func id(_ id: String?) -> String? {
    guard let id, !isWide, id.count > 6 else { return id }
    return "…" + id.suffix(4)
  }
}

/// The people of the feed by id, learnt from what passes: voice sessions list
/// their participants, and some voice events name the speaker. Records of type `name` tell
/// guilds as well, whose ids are those of no people.
struct Names {
  /// Names that are kept at most; what comes later stays an id.
  private static let most = 4096
  private var known: [String: String] = [:]

  /// The name of a user id, nil when it was never told.
  subscript(id: String) -> String? { known[id] }

  /// From a record that tells a name, or a voice state, on its own or inside the stats.
  mutating func learn(from record: JSONValue) {
    if record["type"]?.string == "name" {
      return keep(record["id"]?.text, record["name"]?.string)
    }
    let payload = record["data"] ?? record
    learn(sessions: payload["sessions"])
    learn(sessions: payload["runtime"]?["voice"]?["sessions"])
    learn(sessions: payload["stats"]?["runtime"]?["voice"]?["sessions"])
  }

  mutating func learn(from action: Action) {
    guard action.domain == .voice, action.word("transcriptSource") != "output" else { return }
    keep(action.word("memberUserId") ?? action.user, action.word("speakerName", "displayName"))
  }

  private mutating func learn(sessions: JSONValue?) {
    for session in sessions?.elements ?? [] {
      for person in session["participants"]?.elements ?? [] {
        keep(person["userId"]?.text, person["displayName"]?.string)
      }
    }
  }

  private mutating func keep(_ id: String?, _ name: String?) {
    guard let id, let name, !id.isEmpty, !name.isEmpty else { return }
    if known[id] != nil || known.count < Self.most { known[id] = name }
  }
}

extension Phrase {
  /// `llm_call`, `llm_tool_call`: model, tokens, tools, duration, words.
  mutating func modelCall(_ action: Action) {
    add(action.model ?? action.content)
    add(Usage(action).brief, .dim)
    tools(action)
    took(action.milliseconds)
    if let images = action.number("inputImages"), images > 0 { count(images, "images") }
    stop(action.word("stopReason", "finishReason"))
    result(action.metadata?[either: "result", "output", "toolResult"])
    if let isOk = action.metadata?["success"]?.bool, !isOk { fail("failed") }
    fail(action.failure)
    quote(action.word("transcript", "responseText"))
  }

  /// Each with its input where that was sent, else the names, else how many.
  private mutating func tools(_ action: Action) {
    if let calls = action.metadata?[either: "toolCalls", "tools"], calls.count > 0 {
      for call in calls.elements.prefix(8) {
        let function = call["function"] ?? call
        tool(
          call.string ?? function[either: "name", "toolName"]?.text,
          function[either: "input", "arguments", "args", "parameters"])
      }
      return
    }
    if let name = action.word("toolName", "tool") {
      tool(name, action.metadata?[either: "input", "arguments", "toolInput", "args"])
      return
    }
    let names = action.metadata?["toolNames"]
    if let names, names.kind == .array {
      add(names.elements.compactMap(\.text).joined(separator: ", "), Style.tool)
    } else if let text = names?.text, !text.isEmpty {
      add(text, Style.tool)
    } else if let calls = action.number("toolCallCount"), calls > 0 {
      count(calls, "tools", one: "tool", Style.tool)
    }
  }

  private mutating func stop(_ reason: String?) {
    guard let reason else { return }
    switch reason.lowercased() {
    case "end_turn", "stop", "tool_use", "tool_calls", "completed", "stop_sequence",
      "function_call":
      break
    default: add(reason, Style.warning)
    }
  }

  /// `asr_call`: model, language, words.
  mutating func recognition(_ action: Action) {
    add(action.word("model") ?? action.content)
    add(action.word("language"), .dim)
    took(action.milliseconds)
    quote(action.word("transcript", "text"))
  }

  /// `tts_call`, `speech`: model, voice, length, words.
  mutating func speech(_ action: Action) {
    add(action.word("model") ?? action.content)
    add(action.word("voice", "voiceId"), .dim)
    count(action.number("textChars", "characters"), "chars")
    took(action.milliseconds)
    quote(action.word("text", "transcript"))
  }

  /// `memory_embedding_call`: model and sizes.
  mutating func embedding(_ action: Action) {
    add(action.word("model") ?? action.content)
    count(action.number("inputChars"), "chars")
    count(action.number("vectorDims"), "dims")
    add(Usage(action).brief, .dim)
    took(action.milliseconds)
    add(action.word("traceSource"), .dim)
  }

  /// `image_call`, `video_call`, `gif_call` and the links that are watched.
  mutating func media(_ action: Action) {
    let subject = action.word("model", "title", "query") ?? action.content
    add(subject)
    for name in ["size", "variant", "status"] { add(action.word(name), .dim) }
    count(action.number("returnedResults"), "results")
    took(action.milliseconds)
    add(action.word("gifUrl", "url", "videoUrl", "imageUrl"), .dim)
    if action.word("model") == nil, action.content != subject { add(action.content) }
  }

  /// `code_agent_call`: who works, and on what.
  mutating func codeAgent(_ action: Action) {
    add(action.word("role"), .bold)
    add(action.word("model", "provider"), .dim)
    took(action.milliseconds)
    add(action.content)
  }
}

extension Phrase {
  /// `search_call`: what was asked, how much was found.
  mutating func search(_ action: Action) {
    quote(action.word("query") ?? action.content)
    count(action.number("returnedResults"), "results", one: "result")
    if let pages = action.number("pageReadsSucceeded"), pages > 0 {
      count(pages, "pages read", one: "page read")
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
    count(action.number("steps", "totalSteps"), "steps", one: "step")
    if action.metadata?["hitStepLimit"]?.bool == true { add("step limit", Style.warning) }
    took(action.milliseconds)
    add(action.word("model"), .dim)
    add(action.word("currentUrl", "url"), .dim)
  }

  private mutating func step(_ action: Action) {
    if let step = action.number("step") { add("step \(Amount.count(step))", .dim) }
  }
}

extension Phrase {
  /// `sent_reply`, `sent_message`, `initiative_post`: channel, length, text.
  mutating func message(_ action: Action) {
    add(action.word("channelName").map { "#\($0)" } ?? id(action.channel).map { "#\($0)" }, .dim)
    if let content = action.content {
      add(content.count == 1 ? "1 char" : "\(content.count) chars", .dim)
    }
    took(action.milliseconds)
    add(action.content)
  }

  /// `reply_skipped`, `initiative_skip`: why.
  mutating func skipped(_ action: Action) {
    add(action.content)
    let reason = action.word("reason") ?? action.metadata?["addressing"]?["reason"]?.text
    if reason != action.content { add(reason, .dim) }
    took(action.milliseconds)
  }

  /// `reacted`: the emoji, why.
  mutating func reaction(_ action: Action) {
    add(action.content)
    add(id(action.channel).map { "#\($0)" }, .dim)
    add(action.word("reason"), .dim)
  }

  /// `memory_fact`: type, confidence, fact.
  mutating func fact(_ action: Action) {
    add(action.word("factType", "fact_type", "type"), .bold)
    if let confidence = action.number("confidence") {
      let style = confidence < 0.5 ? Style.warning : .dim
      add(confidence <= 1 ? Amount.fixed(confidence * 100, 0) + "%" : "\(confidence)", style)
    }
    add(action.content ?? action.word("fact"))
    if let subject = action.word("subjectName") ?? self.subject(action.word("subject")) {
      add("about \(subject)", .dim)
    }
    if let reason = action.word("reason"), reason != "added_new" { add(reason, .dim) }
  }

  private func subject(_ subject: String?) -> String? {
    switch subject {
    case "__lore__": "the community"
    case "__self__": "itself"
    case "__owner__": "the owner"
    default: person(subject)
    }
  }

  /// `memory_reflection_*`: the day and what came of it.
  mutating func reflection(_ action: Action) {
    add(action.word("dateKey"))
    for (name, label) in [
      ("factsExtracted", "extracted"), ("factsSelected", "selected"), ("factsSaved", "saved"),
      ("factsSkipped", "skipped"),
    ] {
      count(action.number(name), label)
    }
    took(action.milliseconds)
    add(action.word("model"), .dim)
    add(action.content)
  }

  /// `automation_*`: number, title, schedule, outcome.
  mutating func automation(_ action: Action) {
    if let number = action.word("automationId"), action.content?.holds("#\(number)") != true {
      add("#\(number)", .dim)
    }
    add(action.word("title"), .bold)
    add(action.content)
    add(action.metadata?["schedule"].flatMap(schedule), .dim)
    add(action.word("runStatus", "status"), .dim)
    if let next = action.word("nextRunAt") { add("next \(next)", .dim) }
  }

  private func schedule(_ value: JSONValue) -> String? {
    func two(_ number: Int64) -> String { number >= 0 && number < 10 ? "0\(number)" : "\(number)" }
    switch value["kind"]?.string {
    case "daily":
      guard let hour = value["hour"]?.integer, let minute = value["minute"]?.integer else {
        return "daily"
      }
      return "daily at \(two(hour)):\(two(minute))"
    case "interval":
      guard let minutes = value["everyMinutes"]?.number else { return "interval" }
      return "every \(Amount.duration(minutes * 60_000))"
    case "once": return "once at \(value["atIso"]?.text ?? "?")"
    default: return value.isNull ? nil : Brief.text(value)
    }
  }

  mutating func failed(_ action: Action) {
    let failure = action.failure
    let content = action.content
    if let failure, let content, failure != content {
      add(content)
      fail(failure)
    } else {
      fail(failure ?? content)
    }
    add(action.word("status").map { "status \($0)" }, .dim)
    if let type = action.word("errorType"), content?.holds(type) != true { add(type, .dim) }
    add(action.word("model", "provider"), .dim)
    took(action.milliseconds)
    add(action.word("currentUrl", "url"), .dim)
    if line.spans.isEmpty { members(action, atMost: 5) }
  }

  /// Any other action: its words, then the plain members of its metadata.
  mutating func generic(_ action: Action) {
    add(action.content)
    took(action.milliseconds)
    members(action, atMost: 5)
  }

  private mutating func members(_ action: Action, atMost most: Int) {
    guard let metadata = action.metadata else { return }
    guard metadata.isObject else {
      add(Brief.text(metadata), .dim)
      return
    }
    let plain = metadata.members.filter { member in
      guard let text = member.value.text, !text.isEmpty, text != action.content else {
        return false
      }
      return !member.name.hasSuffix("Id") && !member.name.hasSuffix("Ms") && member.name != "source"
    }
    for member in plain.prefix(most) {
      let text = Plain.line(member.value.text ?? "", limit: 200)
      add("\(member.name) \(Fit.truncate(text, to: 60))", .dim)
    }
  }
}

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
