import Core

/// The members of an event (CONTRACT.md 5), each of which has two spellings, but for the one that
/// says what happened.
enum PincerMember: Sendable, CaseIterable {
  case eventId, threadId, turnId, sequence, occurredAt
  /// What says nothing of turns.
  case source, contentTrust

  static let table = NameTable<PincerMember>(inSnakeCase: true)
}

/// What happened.
enum PincerPayload: Sendable, CaseIterable {
  case turnStarted, turnCompleted, turnFailed, turnPaused, turnResumed
  case assistantThinkingDelta, assistantTextDelta, assistantMessageCommitted
  case toolCallPlanned, toolExecutionStarted, toolExecutionOutputDelta, toolExecutionFinished
  case proposedActionCreated, proposedActionStatusChanged
  /// What says nothing of turns.
  case turnBudgetApplied, modelOutputRepairAttempted, policyDecisionMade, idempotencyConflict
  case jobStatusChanged, scheduleTriggered, heartbeat, streamGap

  static let table = NameTable<PincerPayload>(inSnakeCase: true)
}

/// The members of what happened.
enum PincerField: Int, ScanName {
  case userMessageId, assistantMessageId, messageId, code, message, reason, segmentId, delta
  case redacted, fullText, toolCallId, toolName, tool, args, executionId, displayCommand, stream
  case chunk, utf8, exitCode, durationMs, timedOut, truncated, actionId, riskClass
  case deterministicSummary, preview, expiresAt, status

  static let table = NameTable<PincerField>(inSnakeCase: true)
}
