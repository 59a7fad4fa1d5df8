import Core

extension SessionOverlay {
  /// The members that the session has now in the place of those of its last
  /// state, as one JSON object; nil when there are none.
  ///
  /// - Parameters:
  ///   - base: the session's own bytes, or those of a rebuilt one.
  ///   - isRebuilt: whether there never was a state: then everything comes from here.
  func members(over base: [UInt8], isRebuilt: Bool) -> String? {
    var json = SessionJSON()
    list("toolCalls", calls.map(\.json), base, &json)
    list("recentTurns", turns.map(\.json), base, &json)
    list("membershipEvents", memberships.map(\.json), base, &json)
    people(base, &json)
    speech(base, &json)
    recognisers(base, &json)
    json.set("lastActivityAt", SessionJSON.time(lastActivity))
    if let plays {
      json.set(
        "soundboard",
        SessionJSON.object([
          ("playCount", SessionJSON.number(plays)), ("lastPlayedAt", SessionJSON.time(lastPlay)),
        ]))
    }
    if isRebuilt { rebuilt(&json) }
    return json.text
  }

  private func list(
    _ name: String, _ added: [String], _ base: [UInt8], _ json: inout SessionJSON
  ) {
    guard !added.isEmpty else { return }
    json.set(name, SessionJSON.array(SessionJSON.elements(of: name, in: base) + added))
  }

  private func people(_ base: [UInt8], _ json: inout SessionJSON) {
    guard !present.isEmpty || !gone.isEmpty else { return }
    var kept = SessionJSON.elements(of: "participants", in: base)
    var known: Set<String> = []
    kept = kept.filter { element in
      let id = Array(element.utf8).withUnsafeBytes {
        (try? ScanMembers.value(of: "userId", in: $0))?.string
      }
      guard let id else { return true }
      known.insert(id)
      return !gone.contains(id)
    }
    for (user, name) in present.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) })
    where !known.contains(user) {
      kept.append(
        SessionJSON.object([
          ("userId", SessionJSON.string(user)), ("displayName", SessionJSON.string(name)),
        ]))
    }
    json.set("participants", SessionJSON.array(kept))
    json.set("participantCount", "\(kept.count)")
  }

  private func speech(_ base: [UInt8], _ json: inout SessionJSON) {
    if let isAgentSpeaking { json.set("botTurnOpen", "\(isAgentSpeaking)") }
    guard !speaking.isEmpty else { return }
    let captures = SessionJSON.elements(of: "activeCaptures", in: base)
    let told = speaking.sorted { $0.key < $1.key }.filter { user, _ in
      !captures.contains { $0.holds(SessionJSON.string(user) ?? "") }
    }
    let all =
      captures
      + told.map { user, since in
        SessionJSON.object([
          ("userId", SessionJSON.string(user)), ("displayName", SessionJSON.string(names[user])),
          ("startedAt", SessionJSON.time(since)),
        ])
      }
    json.set("activeCaptures", SessionJSON.array(all))
    json.set("activeInputStreams", "\(all.count)")
  }

  private func recognisers(_ base: [UInt8], _ json: inout SessionJSON) {
    guard !partials.isEmpty else { return }
    var left = partials
    var sessions: [String] = SessionJSON.elements(of: "asrSessions", in: base).map { element in
      let bytes = Array(element.utf8)
      let user = SessionJSON.member("userId", in: bytes).map {
        $0.withUnsafeBytes { ScanValue($0).string ?? "" }
      }
      guard let user, let partial = left.removeValue(forKey: user) else { return element }
      var changed = SessionJSON()
      changed.set(
        "utterance", SessionJSON.object([("partialText", SessionJSON.string(partial.text))]))
      return String(decoding: changed.merged(into: bytes), as: UTF8.self)
    }
    sessions += left.sorted { $0.key < $1.key }.map { $1.json(user: $0) }
    json.set("asrSessions", SessionJSON.array(sessions))
  }

  /// What a state would have said.
  private func rebuilt(_ json: inout SessionJSON) {
    if lastReply != nil || lastAddress != nil || attention != nil {
      let wake = attention.map {
        SessionJSON.object([
          ("attentionMode", SessionJSON.string($0)), ("active", "\($0 == "ACTIVE")"),
        ])
      }
      json.set(
        "conversation",
        SessionJSON.object([
          ("lastAssistantReplyAt", SessionJSON.time(lastReply)),
          ("lastDirectAddressAt", SessionJSON.time(lastAddress?.at)),
          ("lastDirectAddressUserId", SessionJSON.string(lastAddress?.user)), ("wake", wake),
        ]))
    }
    if !latencies.isEmpty {
      json.set(
        "latency",
        SessionJSON.object([
          ("recentTurns", SessionJSON.array(latencies.suffix(8).reversed().map(\.json))),
          ("averages", OverlayLatency.averages(latencies)), ("turnCount", "\(latencies.count)"),
        ]))
    }
    if !notes.isEmpty || frames != nil {
      let feed = notes.map { note in
        SessionJSON.object([
          ("text", SessionJSON.string(note.text)), ("at", SessionJSON.time(note.at)),
          ("provider", SessionJSON.string(note.provider)),
          ("model", SessionJSON.string(note.model)),
        ])
      }
      json.set(
        "streamWatch",
        SessionJSON.object([
          ("active", "\(ended == nil)"), ("noteCount", "\(notes.count)"),
          ("lastNoteAt", SessionJSON.time(notes.last?.at)),
          ("ingestedFrameCount", SessionJSON.number(frames)),
          ("visualFeed", SessionJSON.array(feed)),
        ]))
    }
    if let music {
      let isActive = music.phase == "playing" || music.phase == "paused"
      json.set(
        "music",
        SessionJSON.object([
          ("active", "\(isActive)"), ("phase", SessionJSON.string(music.phase)),
          ("lastTrackTitle", SessionJSON.string(music.title)),
          ("lastQuery", SessionJSON.string(music.query)),
          ("lastCommandAt", SessionJSON.time(music.at)),
        ]))
    }
  }
}
