import Core

/// What the bot thinks of saying without being asked.
struct VoiceThoughtEngine: Sendable {
  let busy: Bool?
  let nextAttemptAt: Timestamp?, lastAttemptAt: Timestamp?, lastSpokenAt: Timestamp?
  let pendingThought: VoiceThought?

  init(_ value: JSONValue) {
    busy = value.bool("busy")
    nextAttemptAt = value.time("nextAttemptAt")
    lastAttemptAt = value.time("lastAttemptAt")
    lastSpokenAt = value.time("lastSpokenAt")
    pendingThought = value.part(VoiceThought.init, "pendingThought")
  }
}

/// A thought that waits for its moment.
struct VoiceThought: Sendable {
  let id: String?
  /// `queued` or `reconsider`.
  let status: String?
  let text: String?, draftText: String?, trigger: String?
  let createdAt: Timestamp?, updatedAt: Timestamp?, basisAt: Timestamp?
  let notBeforeAt: Timestamp?, expiresAt: Timestamp?
  let ageMs: Double?
  let revision: Int?
  let lastDecisionReason: String?
  /// `hold`, `speak_now` or `drop`.
  let lastDecisionAction: String?
  let memoryFactCount: Int?
  let usedMemory: Bool?
  let invalidatedAt: Timestamp?
  let invalidatedByUserId: String?, invalidationReason: String?

  init(_ value: JSONValue) {
    id = value.text("id")
    status = value.text("status")
    text = value.text("text")
    draftText = value.text("draftText")
    trigger = value.text("trigger")
    createdAt = value.time("createdAt")
    updatedAt = value.time("updatedAt")
    basisAt = value.time("basisAt")
    notBeforeAt = value.time("notBeforeAt")
    expiresAt = value.time("expiresAt")
    ageMs = value.double("ageMs")
    revision = value.int("revision")
    lastDecisionReason = value.text("lastDecisionReason")
    lastDecisionAction = value.text("lastDecisionAction")
    memoryFactCount = value.int("memoryFactCount")
    usedMemory = value.bool("usedMemory")
    invalidatedAt = value.time("invalidatedAt")
    invalidatedByUserId = value.text("invalidatedByUserId")
    invalidationReason = value.text("invalidationReason")
  }
}
