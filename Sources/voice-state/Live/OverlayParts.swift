import Core

/// A tool call that events told of.
struct OverlayCall: Equatable {
  let id: String
  var name: String?
  var type: String?
  /// JSON.
  var arguments: String?
  var startedAt: Timestamp?
  var completedAt: Timestamp?
  var runtimeMs: Double?
  var success: Bool?
  /// JSON.
  var summary: String?
  var error: String?

  var isRunning: Bool { completedAt == nil }

  var json: String {
    SessionJSON.object([
      ("callId", SessionJSON.string(id)), ("toolName", SessionJSON.string(name)),
      ("toolType", SessionJSON.string(type)), ("arguments", arguments),
      ("startedAt", SessionJSON.time(startedAt)), ("completedAt", SessionJSON.time(completedAt)),
      ("runtimeMs", SessionJSON.number(runtimeMs)), ("success", success.map { "\($0)" }),
      ("outputSummary", summary), ("error", SessionJSON.string(error)),
    ])
  }
}

/// What someone said, as events told.
struct OverlayTurn: Equatable {
  let isAgent: Bool
  var speaker: String?
  let text: String
  let at: Timestamp?

  var json: String {
    SessionJSON.object([
      ("kind", "\"speech\""), ("role", isAgent ? "\"assistant\"" : "\"user\""),
      ("speakerName", SessionJSON.string(speaker)), ("text", SessionJSON.string(text)),
      ("at", SessionJSON.time(at)),
    ])
  }
}

/// Words that are not yet final.
struct OverlayPartial: Equatable {
  var speaker: String?
  var text: String
  var at: Timestamp?

  func json(user: String) -> String {
    SessionJSON.object([
      ("userId", SessionJSON.string(user)), ("displayName", SessionJSON.string(speaker)),
      ("connected", "true"), ("phase", "\"ready\""), ("lastAudioAt", SessionJSON.time(at)),
      ("utterance", SessionJSON.object([("partialText", SessionJSON.string(text))])),
    ])
  }
}

/// Someone who came or went.
struct OverlayMembership: Equatable {
  let user: String?
  let name: String?
  let isJoin: Bool
  let at: Timestamp?

  var json: String {
    SessionJSON.object([
      ("userId", SessionJSON.string(user)), ("displayName", SessionJSON.string(name)),
      ("eventType", isJoin ? "\"join\"" : "\"leave\""), ("at", SessionJSON.time(at)),
    ])
  }
}

/// How long an answer took, put together from the stages that events told.
struct OverlayLatency: Equatable {
  static let stages = [
    "finalizedToAsrStartMs", "asrToGenerationStartMs", "generationToReplyRequestMs",
    "replyRequestToAudioStartMs",
  ]

  let request: String
  var at: Timestamp?
  var values: [Double?] = [nil, nil, nil, nil]
  var queueWaitMs: Double?
  var queueDepth: Double?

  var total: Double? {
    let known = values.compactMap { $0 }
    return known.isEmpty ? nil : known.reduce(0, +)
  }

  var json: String {
    SessionJSON.object(
      [("at", SessionJSON.time(at))]
        + zip(Self.stages, values).map { ($0, SessionJSON.number($1)) } + [
          ("totalMs", SessionJSON.number(total)), ("queueWaitMs", SessionJSON.number(queueWaitMs)),
          ("pendingQueueDepth", SessionJSON.number(queueDepth)),
        ])
  }

  /// The averages of answers, as the server sends them.
  static func averages(_ turns: [OverlayLatency]) -> String {
    func average(_ values: [Double]) -> String? {
      values.isEmpty
        ? nil : SessionJSON.number((values.reduce(0, +) / Double(values.count)).rounded())
    }
    return SessionJSON.object(
      stages.indices.map { stage in (stages[stage], average(turns.compactMap { $0.values[stage] }))
      }
        + [("totalMs", average(turns.compactMap(\.total)))])
  }
}
