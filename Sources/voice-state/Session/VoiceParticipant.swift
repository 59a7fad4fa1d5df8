import Core

/// Someone in the voice channel.
struct VoiceParticipant: Sendable {
  let userId: String?, displayName: String?

  init(_ value: JSONValue) {
    userId = value.text("userId")
    displayName = value.text("displayName")
  }
}

/// Someone who speaks now.
struct VoiceCapture: Sendable {
  let userId: String?, displayName: String?
  let startedAt: Timestamp?
  let ageMs: Double?

  init(_ value: JSONValue) {
    userId = value.text("userId")
    displayName = value.text("displayName")
    startedAt = value.time("startedAt")
    ageMs = value.double("ageMs")
  }
}

/// The speaker that the bot attends to.
struct VoiceFocus: Sendable {
  let userId: String?, displayName: String?
  let since: Timestamp?

  init(_ value: JSONValue) {
    userId = value.text("userId")
    displayName = value.text("displayName")
    since = value.time("since")
  }
}

/// Someone came or went.
struct VoiceMembershipEvent: Sendable {
  let userId: String?, displayName: String?
  /// `join` or `leave`.
  let eventType: String?
  let at: Timestamp?
  let ageMs: Double?

  init(_ value: JSONValue) {
    userId = value.text("userId")
    displayName = value.text("displayName")
    eventType = value.text("eventType")
    at = value.time("at")
    ageMs = value.double("ageMs")
  }
}
