import Core

/// Someone in the voice channel.
struct VoiceParticipant: Sendable {
  var userId: String?, displayName: String?
}

extension VoiceParticipant {
  init(_ value: JSONValue) {
    userId = value.text("userId")
    displayName = value.text("displayName")
  }
}

/// Someone who speaks now.
struct VoiceCapture: Sendable {
  var userId: String?, displayName: String?
  var startedAt: Timestamp?
  var ageMs: Double?
  /// Whether only an event told of it: then an event ends it, too.
  var isHeard = false
}

extension VoiceCapture {
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
  var userId: String?, displayName: String?
  /// `join` or `leave`.
  var eventType: String?
  var at: Timestamp?
  var ageMs: Double?
}

extension VoiceMembershipEvent {
  init(_ value: JSONValue) {
    userId = value.text("userId")
    displayName = value.text("displayName")
    eventType = value.text("eventType")
    at = value.time("at")
    ageMs = value.double("ageMs")
  }
}

/// One thing that was said, thought, or happened in the channel.
struct VoiceTurn: Sendable {
  /// `speech`, `thought`, `membership`, `effect`; nil in the older wire.
  var kind: String?
  /// `user` or `assistant`.
  var role: String?
  /// `YOU` for a thought of the bot.
  var speakerName: String?
  var text: String
  var at: Timestamp?
}

extension VoiceTurn {
  init(_ value: JSONValue) {
    kind = value.text("kind")
    role = value.text("role")
    speakerName = value.text("speakerName")
    text = value.text("text") ?? ""
    at = value.time("at")
  }
}
