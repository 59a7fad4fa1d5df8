package import Core

/// The provider that the session speaks through.
package struct VoiceRealtime: VoicePart {
  let json: JSONValue?
  package var provider: String? { value() }
  package var inputSampleRateHz: Int? { value() }
  package var outputSampleRateHz: Int? { value() }
  package var recentVoiceTurns: Int? { value() }
  /// Replies that were overtaken by newer words.
  package var replySuperseded: Int? { value() }
  package var pendingTurns: Int { value() ?? 0 }
  package var drainActive: Bool? { value() }
  package var coalesceActive: Bool? { value() }
  package var state: VoiceRealtimeState? { value() }
}

/// The link to the provider.
package struct VoiceRealtimeState: VoicePart {
  /// Something that was sent to the provider.
  package struct Event: VoicePart {
    let json: JSONValue?
    package var type: String? { value() }
    package var at: Timestamp? { value() }
  }

  let json: JSONValue?
  package var connected: Bool? { value() }
  package var connectedAt: Timestamp? { value() }
  package var lastEventAt: Timestamp? { value() }
  package var sessionId: String? { value() }
  package var lastError: String? { value() }
  package var lastCloseCode: Int? { value() }
  package var lastCloseReason: String? { value() }
  package var lastEventType: String? { value() }
  package var lastOutboundEventType: String? { value() ?? lastOutboundEvent?.type }
  package var lastOutboundEventAt: Timestamp? { value() ?? lastOutboundEvent?.at }
  private var lastOutboundEvent: Event? { value() }
  package var activeResponseId: String? { value() }
  package var activeResponseStatus: String? { value() }
  /// Oldest first.
  package var recentOutboundEvents: [Event] { value() }
  /// Of some providers only.
  package var model: String? { value() }
  package var utteranceCount: Int? { value() }
  package var setupComplete: Bool? { value() }
  package var pendingResponseActive: Bool? { value() }
}

/// One recogniser of speech: of a person, or of everybody.
package struct VoiceASRSession: VoicePart {
  /// What is being said and is not yet a turn.
  package struct Utterance: VoicePart {
    let json: JSONValue?
    package var partialText: String?
    /// How many segments are final: their number is sent, or they themselves.
    package var finalSegments: Int? { value() ?? json?["finalSegments"]?.count }
    package var bytesSent: Int? { value() }

    /// As a state tells of it; nil for nothing yet.
    package init(json: JSONValue? = nil) {
      self.json = json
      partialText = value("partialText")
    }
  }

  let json: JSONValue?
  package var userId: String?, displayName: String?
  package var connected: Bool?
  /// `idle`, `connecting`, `ready`, `committing`, `closing`; also when only the
  /// older `closing` says so.
  package var phase: String?
  package var lastAudioAt: Timestamp?
  package var lastTranscriptAt: Timestamp? { value() }
  package var idleMs: Double? { value() }
  package var idleTtlMs: Double? { value() }
  package var pendingAudioBytes: Int? { value() }
  package var pendingAudioChunks: Int? { value() }
  package var utterance: Utterance?
  package var model: String? { value() }
  /// Whether only an event told of it: then an event ends it, too.
  package var isHeard: Bool { json == nil }

  init(json: JSONValue?) {
    self.json = json
    userId = value("userId")
    displayName = value("displayName")
    connected = value("connected")
    phase = value("phase") ?? (value("closing") == true ? "closing" : nil)
    lastAudioAt = value("lastAudioAt")
    utterance = value("utterance")
  }

  /// The recogniser of someone of whose words an event tells.
  package init(heard userId: String, _ displayName: String, at time: Timestamp?) {
    (json, self.userId, self.displayName, lastAudioAt) = (nil, userId, displayName, time)
    (connected, phase) = (true, "ready")
  }
}

/// Turns that wait to be recognised as files.
package struct VoiceBatchASR: VoicePart {
  let json: JSONValue?
  package var pendingTurns: Int { value() ?? 0 }
  package var contextMessages: Int? { value() }
}

/// How long answers took, stage by stage.
package struct VoiceLatency: VoicePart {
  /// The stages of an answer and their sum. Milliseconds; nil where the server
  /// could not tell.
  package struct Stages: Sendable {
    private static let members = [
      "finalizedToAsrStartMs", "asrToGenerationStartMs", "generationToReplyRequestMs",
      "replyRequestToAudioStartMs", "totalMs",
    ]

    /// From the last word to its recognition, to the thinking, to the question to the
    /// provider, to the sound; and the total, in this order.
    package var all = [Double?](repeating: nil, count: 5)

    /// Nothing known.
    package init() {}

    init(_ json: JSONValue) {
      all = Self.members.map { name in
        // No answer takes less than no time, or years.
        guard let time = json.double(name), time >= 0, time < 1e11 else { return nil }
        return time
      }
    }

    /// The averages of answers, in whole milliseconds.
    package init(averageOf turns: [Turn]) {
      for stage in all.indices {
        let known = turns.compactMap { $0.stages.all[stage] }
        all[stage] = known.isEmpty ? nil : (known.reduce(0, +) / Double(known.count)).rounded()
      }
    }

    /// The sum of the stages.
    package var totalMs: Double? { all[4] }

    /// Whether no stage is known.
    package var isUnknown: Bool { all.allSatisfy { $0 == nil } }

    /// Adds the stages that are known of the same answer by now; the total is their sum.
    package mutating func add(_ other: Stages) {
      for stage in 0..<4 { all[stage] = other.all[stage] ?? all[stage] }
      let known = all[..<4].compactMap { $0 }
      all[4] = known.isEmpty ? nil : known.reduce(0, +)
    }
  }

  /// One answer.
  package struct Turn: VoicePart {
    let json: JSONValue?
    package var at: Timestamp?
    package var stages: Stages

    /// As a state tells of it; nil for nothing known.
    package init(json: JSONValue? = nil) {
      self.json = json
      stages = json.map { Stages($0) } ?? Stages()
      at = value("at")
    }
  }

  let json: JSONValue?
  /// Newest first.
  package var recentTurns: [Turn] = []
  package var averages: Stages

  /// As a state tells of it; nil for no answer yet.
  package init(json: JSONValue? = nil) {
    self.json = json
    averages = json?["averages"].map { Stages($0) } ?? Stages()
    recentTurns = value("recentTurns")
  }

  /// The median of each stage over the recent turns, in the order of
  /// `Stages.all`; nil where no turn has the stage.
  package var medians: [Double?] {
    let turns = recentTurns.map(\.stages.all)
    return averages.all.indices.map { stage in
      let known = turns.compactMap { $0[stage] }.sorted()
      guard !known.isEmpty else { return nil }
      let middle = known.count / 2
      return known.count % 2 == 1 ? known[middle] : (known[middle - 1] + known[middle]) / 2
    }
  }
}

/// A tool that a model may call.
package struct VoiceTool: VoicePart {
  let json: JSONValue?
  package var name: String? { value() }
  package var serverName: String? { value() }
  package var description: String? { value() }
}

/// One call of a tool: of a state, or of the event of a call. Calls that a model makes by
/// itself have other names for three members.
package struct VoiceToolCall: VoicePart {
  /// How a call stands.
  package enum State: String, Sendable {
    case running, ok, failed
  }

  let json: JSONValue?
  package var callId: String?, toolName: String?
  /// `function` or `mcp`.
  package var toolType: String?
  /// Seldom sent: the tool's own server says it too, see `brainTools`.
  package var serverName: String?
  /// An object as a rule.
  package var arguments: JSONValue?
  package var startedAt: Timestamp?, completedAt: Timestamp?
  package var runtimeMs: Double? { value() ?? value("durationMs") }
  package var success: Bool?
  /// A text or an object.
  package var outputSummary: JSONValue? { json?[either: "outputSummary", "toolResultSummary"] }
  package var error: String?
  /// Whether only events told of it: states do not hold calls that run.
  package var isHeard = false

  init(json: JSONValue?) {
    self.json = json
    callId = value("callId")
    toolName = value("toolName")
    toolType = value("toolType")
    serverName = value("serverName")
    arguments = json?[either: "arguments", "toolInput"]
    startedAt = value("startedAt")
    completedAt = value("completedAt")
    success = value("success")
    error = value("error") ?? json?["error"]?.text("message", "code")
  }

  /// Failed with an error; else running until it is completed; else what it says.
  package var state: State {
    if error != nil { return .failed }
    if completedAt == nil && success != true { return .running }
    return success == false ? .failed : .ok
  }
}

/// A server of the model context protocol.
package struct VoiceMCPServer: VoicePart {
  let json: JSONValue?
  package var serverName: String? { value() }
  package var connected: Bool? { value() }
  package var tools: [VoiceTool] { value() }
  package var lastError: String? { value() }
  package var lastConnectedAt: Timestamp? { value() }
  package var lastCallAt: Timestamp? { value() }
}

/// What the bot sees of a shared screen. Notes were called brain context before.
package struct VoiceStreamWatch: VoicePart {
  /// Something seen.
  package struct Seen: VoicePart {
    let json: JSONValue?
    package var text: String?
    package var at: Timestamp?
    package var speakerName: String? { value() }

    init(json: JSONValue?) {
      self.json = json
      text = value("text")
      at = value("at")
    }

    /// As an event tells it.
    init(_ text: String, at time: Timestamp?) { (json, self.text, at) = (nil, text, time) }
  }

  let json: JSONValue?
  package var active = false
  package var targetUserId: String? { value() }
  package var requestedByUserId: String? { value() }
  package var lastFrameAt: Timestamp? { value() }
  package var lastCommentaryAt: Timestamp? { value() }
  package var lastCommentaryNote: String? { value() }
  package var lastMemoryRecapAt: Timestamp? { value() }
  package var lastMemoryRecapText: String? { value() }
  package var lastMemoryRecapDurableSaved: Bool? { value() }
  package var latestFrameAt: Timestamp? { value() }
  package var latestFrameMimeType: String? { value() }
  package var latestFrameApproxBytes: Int? { value() }
  package var acceptedFrameCountInWindow: Int? { value() }
  package var frameWindowStartedAt: Timestamp? { value() }
  package var ingestedFrameCount: Int?
  package var lastNoteAt: Timestamp?
  package var lastNoteProvider: String? { value() ?? value("lastBrainContextProvider") }
  package var lastNoteModel: String? { value() ?? value("lastBrainContextModel") }
  package var noteCount: Int?
  /// What was seen, oldest first.
  package var visualFeed: [Seen] = []
  package var notePayload: VoiceNotePayload? { value() ?? value("brainContextPayload") }
  package var nativeDiscord: VoiceNativeStream? { value() }

  init(json: JSONValue?) {
    self.json = json
    active = value("active") ?? false
    ingestedFrameCount = value("ingestedFrameCount")
    lastNoteAt = value("lastNoteAt") ?? value("lastBrainContextAt")
    noteCount = value("noteCount") ?? value("brainContextCount")
    visualFeed = value("visualFeed")
  }

  /// Nothing seen yet of a screen that is watched or not.
  package init(active: Bool) { (json, self.active) = (nil, active) }
}

/// What the answering model is told of the screen.
package struct VoiceNotePayload: VoicePart {
  let json: JSONValue?
  /// Each ends in its age: `(12s ago)`.
  package var notes: [String] { value() }
  package var lastAt: Timestamp? { value() }
  package var provider: String? { value() }
  package var model: String? { value() }
}

/// Screens shared over Discord itself.
package struct VoiceNativeStream: VoicePart {
  /// Someone who shares a screen.
  package struct Sharer: VoicePart {
    let json: JSONValue?
    package var userId: String? { value() }
    package var displayName: String? { value() }
    package var codec: String? { value() }
  }

  let json: JSONValue?
  package var decodeInFlight: Bool? { value() }
  package var ffmpegAvailable: Bool? { value() }
  package var lastDecodeSuccessAt: Timestamp? { value() }
  package var lastDecodeFailureAt: Timestamp? { value() }
  package var lastDecodeFailureReason: String? { value() }
  package var activeSharers: [Sharer] { value() }
}

/// What music plays, and what may play next. The last track stays after it has
/// stopped: `active` says whether it plays.
package struct VoiceMusic: VoicePart {
  /// A track: one that a search found, or of the queue, which has no platform and length.
  package struct Track: VoicePart {
    let json: JSONValue?
    package var id: String? { value() }
    package var title: String? { value() }
    package var artist: String? { value() }
    package var platform: String? { value() }
    package var durationSeconds: Double? { value() }
  }

  /// The tracks that wait.
  package struct Queue: VoicePart {
    let json: JSONValue?
    package var tracks: [Track] { value() }
    package var nowPlayingIndex: Int? { value() }
    /// 0 to 1.
    package var volume: Double? { value() }
  }

  let json: JSONValue?
  /// `idle`, `loading`, `playing`, `paused`, `paused_wake_word`, `stopping`.
  package var phase: String?
  package var active = false
  package var pauseReason: String? { value() }
  package var replyHandoffMode: String? { value() }
  package var provider: String? { value() }
  package var source: String? { value() }
  package var startedAt: Timestamp? { value() }
  package var stoppedAt: Timestamp? { value() }
  package var lastTrackTitle: String?
  package var lastTrackArtists: [String] { value() }
  package var lastQuery: String?
  package var lastRequestedByUserId: String? { value() }
  package var lastRequestText: String? { value() }
  package var lastCommandReason: String? { value() }
  package var pendingQuery: String? { value() }
  package var pendingPlatform: String? { value() }
  package var pendingRequestedByUserId: String? { value() }
  package var pendingRequestedAt: Timestamp? { value() }
  package var pendingResults: [Track] { value() }
  package var disambiguationActive: Bool { value() ?? false }
  package var queueState: Queue? { value() }

  /// As a state tells of it; nil for nothing that plays.
  package init(json: JSONValue? = nil) {
    self.json = json
    phase = value("phase")
    active = value("active") ?? false
    lastTrackTitle = value("lastTrackTitle")
    lastQuery = value("lastQuery")
  }
}

/// What was played of the soundboard.
package struct VoiceSoundboard: VoicePart {
  let json: JSONValue?
  package var playCount = 0
  package var lastPlayedAt: Timestamp?

  /// As a state tells of it; nil for nothing yet.
  package init(json: JSONValue? = nil) {
    self.json = json
    playCount = value("playCount") ?? 0
    lastPlayedAt = value("lastPlayedAt")
  }
}
