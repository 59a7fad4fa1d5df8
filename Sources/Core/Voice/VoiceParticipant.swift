/// Someone in the voice channel.
public struct VoiceParticipant: Sendable {
  public let userId: String?, displayName: String?

  init(_ value: JSONValue) {
    userId = value.text("userId")
    displayName = value.text("displayName")
  }
}

/// Someone who speaks now.
public struct VoiceCapture: Sendable {
  public let userId: String?, displayName: String?
  public let startedAt: Timestamp?
  public let ageMs: Double?

  init(_ value: JSONValue) {
    userId = value.text("userId")
    displayName = value.text("displayName")
    startedAt = value.time("startedAt")
    ageMs = value.double("ageMs")
  }
}

/// The speaker that the bot attends to.
public struct VoiceFocus: Sendable {
  public let userId: String?, displayName: String?
  public let since: Timestamp?

  init(_ value: JSONValue) {
    userId = value.text("userId")
    displayName = value.text("displayName")
    since = value.time("since")
  }
}

/// Someone came or went.
public struct VoiceMembershipEvent: Sendable {
  public let userId: String?, displayName: String?
  /// `join` or `leave`.
  public let eventType: String?
  public let at: Timestamp?
  public let ageMs: Double?

  init(_ value: JSONValue) {
    userId = value.text("userId")
    displayName = value.text("displayName")
    eventType = value.text("eventType")
    at = value.time("at")
    ageMs = value.double("ageMs")
  }
}
