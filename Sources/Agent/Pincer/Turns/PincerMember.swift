import Core

/// The members of events that count (CONTRACT.md 5), in both spellings.
enum PincerMember: Sendable {
  // The envelope.
  case eventID, threadID, turnID, sequence, time
  case payload(PincerPayload)
  // What says nothing of turns.
  case known
  // The payloads.
  case message, code, reason, segment, delta, isRedacted, text, call, tool, arguments, execution,
    command, stream, chunk, isText, exitCode, milliseconds, isTimedOut, isTruncated, action, risk,
    summary, preview, expires, status

  static let envelope = NameTable<PincerMember>(
    [
      ("eventId", .eventID), ("event_id", .eventID), ("threadId", .threadID),
      ("thread_id", .threadID), ("turnId", .turnID), ("turn_id", .turnID),
      ("sequence", .sequence), ("occurredAt", .time), ("occurred_at", .time),
      ("source", .known), ("contentTrust", .known), ("content_trust", .known),
    ]
      + PincerPayload.names.map { ($0.0, .payload($0.1)) })

  static let inside = NameTable<PincerMember>([
    ("assistantMessageId", .message), ("assistant_message_id", .message),
    ("messageId", .message), ("message_id", .message), ("code", .code), ("message", .reason),
    ("segmentId", .segment), ("segment_id", .segment), ("delta", .delta),
    ("redacted", .isRedacted), ("fullText", .text), ("full_text", .text),
    ("toolCallId", .call), ("tool_call_id", .call), ("toolName", .tool), ("tool_name", .tool),
    ("tool", .tool), ("args", .arguments), ("executionId", .execution),
    ("execution_id", .execution), ("displayCommand", .command), ("display_command", .command),
    ("stream", .stream), ("chunk", .chunk), ("utf8", .isText), ("exitCode", .exitCode),
    ("exit_code", .exitCode), ("durationMs", .milliseconds), ("duration_ms", .milliseconds),
    ("timedOut", .isTimedOut), ("timed_out", .isTimedOut), ("truncated", .isTruncated),
    ("actionId", .action), ("action_id", .action), ("riskClass", .risk), ("risk_class", .risk),
    ("deterministicSummary", .summary), ("deterministic_summary", .summary),
    ("preview", .preview), ("expiresAt", .expires), ("expires_at", .expires),
    ("status", .status), ("reason", .reason),
  ])
}

enum PincerPayload: Sendable {
  case started, completed, failed, paused, resumed, thinking, text, committed, planned,
    executionStarted, output, executionFinished, proposed, decided
  case other

  static let names: [(StaticString, PincerPayload)] = [
    ("turnStarted", .started), ("turn_started", .started),
    ("turnCompleted", .completed), ("turn_completed", .completed),
    ("turnFailed", .failed), ("turn_failed", .failed),
    ("turnPaused", .paused), ("turn_paused", .paused),
    ("turnResumed", .resumed), ("turn_resumed", .resumed),
    ("assistantThinkingDelta", .thinking), ("assistant_thinking_delta", .thinking),
    ("assistantTextDelta", .text), ("assistant_text_delta", .text),
    ("assistantMessageCommitted", .committed), ("assistant_message_committed", .committed),
    ("toolCallPlanned", .planned), ("tool_call_planned", .planned),
    ("toolExecutionStarted", .executionStarted), ("tool_execution_started", .executionStarted),
    ("toolExecutionOutputDelta", .output), ("tool_execution_output_delta", .output),
    ("toolExecutionFinished", .executionFinished),
    ("tool_execution_finished", .executionFinished),
    ("proposedActionCreated", .proposed), ("proposed_action_created", .proposed),
    ("proposedActionStatusChanged", .decided), ("proposed_action_status_changed", .decided),
    ("turnBudgetApplied", .other), ("turn_budget_applied", .other),
    ("modelOutputRepairAttempted", .other), ("model_output_repair_attempted", .other),
    ("policyDecisionMade", .other), ("policy_decision_made", .other),
    ("idempotencyConflict", .other), ("idempotency_conflict", .other),
    ("jobStatusChanged", .other), ("job_status_changed", .other),
    ("scheduleTriggered", .other), ("schedule_triggered", .other),
    ("heartbeat", .other), ("streamGap", .other), ("stream_gap", .other),
  ]
}
