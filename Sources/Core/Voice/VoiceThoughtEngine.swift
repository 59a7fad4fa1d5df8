/// What the bot thinks of saying without being asked.
public struct VoiceThoughtEngine: Sendable {
  public let busy: Bool?
  public let nextAttemptAt: Timestamp?, lastAttemptAt: Timestamp?, lastSpokenAt: Timestamp?
  public let pendingThought: VoiceThought?

  init(_ value: JSONValue) {
    busy = value.bool("busy")
    nextAttemptAt = value.time("nextAttemptAt")
    lastAttemptAt = value.time("lastAttemptAt")
    lastSpokenAt = value.time("lastSpokenAt")
    pendingThought = value.part(VoiceThought.init, "pendingThought")
  }
}

/// A thought that waits for its moment.
public struct VoiceThought: Sendable {
  public let id: String?
  /// `queued` or `reconsider`.
  public let status: String?
  public let text: String?, draftText: String?, trigger: String?
  public let createdAt: Timestamp?, updatedAt: Timestamp?, basisAt: Timestamp?
  public let notBeforeAt: Timestamp?, expiresAt: Timestamp?
  public let ageMs: Double?
  public let revision: Int?
  public let lastDecisionReason: String?
  /// `hold`, `speak_now` or `drop`.
  public let lastDecisionAction: String?
  public let memoryFactCount: Int?
  public let usedMemory: Bool?
  public let invalidatedAt: Timestamp?
  public let invalidatedByUserId: String?, invalidationReason: String?

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
