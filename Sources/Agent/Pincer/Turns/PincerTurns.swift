public import Core
public import Records

/// What the events of a Pincer thread tell of turns (CONTRACT.md 4 and 5).
public struct PincerTurns: TurnDecoder {
  private var (thread, turn, execution) = (LastText(), LastText(), LastText())
  private var clock = LastSecond()
  private var split = SplitText()
  private var fields = ScanFields<PincerField>()
  /// The turns whose last text tells of a model that failed, and the text.
  private var failures: [String: String] = [:]

  /// How the text of a turn begins whose model failed.
  public static let failing = "Planner error:"
  private static let mostFailures = 1000

  public init() {}

  public mutating func decode(_ line: TurnLine, into events: inout [TurnEvent]) -> Bool {
    switch line.shape {
    case .event, .unmarked: break
    default: return false
    }
    guard let event = event(line.object.bytes, origin: line.origin(.pincer)) else { return false }
    events.append(event)
    return true
  }

  /// Reads a bare event that has nothing but what each has, with one look at it; the most
  /// frequent line of a feed. Any other line is to be looked at as a `TurnLine`.
  ///
  /// - Returns: nil for any other.
  public mutating func event(plain line: UnsafeRawBufferPointer) -> TurnEvent? {
    event(line, origin: RecordOrigin(.pincer), isPlain: true)
  }

  /// Reads one ThreadEvent.
  ///
  /// - Returns: nil when it is none.
  public mutating func event(
    _ object: UnsafeRawBufferPointer, origin: RecordOrigin
  ) -> TurnEvent? { event(object, origin: origin, isPlain: false) }

  private mutating func event(
    _ object: UnsafeRawBufferPointer, origin: RecordOrigin, isPlain: Bool
  ) -> TurnEvent? {
    var (id, thread, turn) = (ScanValue.absent, ScanValue.absent, ScanValue.absent)
    var (sequence, time, body) = (ScanValue.absent, ScanValue.absent, ScanValue.absent)
    var payload: PincerPayload?
    do throws(ScanFault) {
      var members = try ScanMembers(object)
      while try members.next() {
        switch PincerMember.table[members.key] {
        case .eventId?: id = members.value
        case .threadId?: thread = members.value
        case .turnId?: turn = members.value
        case .sequence?: sequence = members.value
        case .occurredAt?: time = members.value
        case .source?, .contentTrust?: break
        case nil:
          if members.value.isObject, let kind = PincerPayload.table[members.key] {
            (payload, body) = (kind, members.value)
          } else if isPlain {
            return nil
          }
        }
      }
    } catch {
      return nil
    }
    // An event of a kind that is not known yet counts by its number.
    let isEvent = !sequence.isNull && !(id.isNull && thread.isNull)
    guard payload != nil || isEvent else { return nil }
    var event = TurnEvent(
      origin, thread: self.thread.of(thread),
      time: clock.of(time), .nothing)
    event.id = id.trimmedText
    event.turn = self.turn.of(turn)
    event.sequence = sequence.wholeNumber ?? 0
    if let payload {
      try? fields.read(body.bytes)
      event.change = change(payload, event)
    }
    return event
  }

  private mutating func words(_ event: TurnEvent, _ kind: String) -> String {
    guard let piece = fields[.delta].piece else { return "" }
    return split.next(piece, of: "\(event.turn)/\(fields.id(.segmentId))/\(kind)")
  }

  private mutating func committed(_ event: TurnEvent) -> TurnChange {
    let text = fields.text(.fullText)
    // The server's word where its model fails: the turn is complete, and that was no answer.
    let isFailure = text.hasPrefix(Self.failing)
    if isFailure || !failures.isEmpty {
      if failures.count > Self.mostFailures { failures = [:] }
      failures[event.turn] = isFailure ? text : nil
    }
    return .committed(
      message: fields[.assistantMessageId, or: .messageId].trimmedText, text: text)
  }

  private mutating func change(_ payload: PincerPayload, _ event: TurnEvent) -> TurnChange {
    switch payload {
    case .turnStarted: .started(message: fields.id(.userMessageId))
    case .turnCompleted:
      .completed(
        message: fields[.assistantMessageId, or: .messageId].trimmedText,
        failure: failures.removeValue(forKey: event.turn))
    case .turnFailed: .failed(code: fields.text(.code), reason: fields.text(.message))
    case .turnPaused: .paused
    case .turnResumed: .resumed
    case .assistantThinkingDelta:
      .thinking(
        words(event, "thinking"), segment: event.turn.isEmpty ? fields.id(.segmentId) : "",
        isRedacted: fields[.redacted].isTrue)
    case .assistantTextDelta:
      .text(words(event, "text"), segment: event.turn.isEmpty ? fields.id(.segmentId) : "")
    case .assistantMessageCommitted: committed(event)
    case .toolCallPlanned:
      .planned(
        call: fields.id(.toolCallId), tool: fields.tool,
        arguments: fields[.args].isObject ? fields[.args].json : nil)
    case .toolExecutionStarted:
      .executionStarted(
        execution.of(fields[.executionId]), call: fields.id(.toolCallId), tool: fields.tool,
        command: fields.text(.displayCommand))
    case .toolExecutionOutputDelta:
      .output(
        execution: execution.of(fields[.executionId]),
        isError: fields[.stream].isText("STDERR") || fields[.stream].wholeNumber == 2,
        fields.output)
    case .toolExecutionFinished:
      .executionFinished(
        execution.of(fields[.executionId]),
        TurnExecutionEnd(
          exitCode: Int(fields[.exitCode].wholeNumber ?? 0),
          milliseconds: Int(fields[.durationMs].wholeNumber ?? 0),
          isTimedOut: fields[.timedOut].isTrue, isTruncated: fields[.truncated].isTrue))
    case .proposedActionCreated: .proposed(fields.approval(event.origin, event.time))
    case .proposedActionStatusChanged:
      PincerApproval.state(fields[.status], reason: fields.id(.reason)).map {
        .decided(approval: fields.id(.actionId), $0, reason: fields.id(.reason))
      } ?? .nothing
    case .turnBudgetApplied, .modelOutputRepairAttempted, .policyDecisionMade,
      .idempotencyConflict, .jobStatusChanged, .scheduleTriggered, .heartbeat, .streamGap:
      .nothing
    }
  }
}

extension ScanFields<PincerField> {
  fileprivate func text(_ name: PincerField) -> String { text(self[name]) }

  private func text(_ value: ScanValue) -> String { value.isString ? value.string ?? "" : "" }

  fileprivate func id(_ name: PincerField) -> String { self[name].trimmedText }

  fileprivate var tool: String { text(self[.toolName, or: .tool]) }

  /// What was printed; nothing for a chunk that is no base64.
  fileprivate var output: TurnOutput {
    let chunk = self[.chunk]
    var bytes: [UInt8]?
    if let raw = chunk.rawText {
      bytes = Base64.bytes(of: raw)
      // JSON may spell a slash with an escape.
      if bytes == nil, let text = chunk.string {
        bytes = Array(text.utf8).withUnsafeBytes { Base64.bytes(of: $0) }
      }
    }
    return self[.utf8].isTrue ? .text(bytes ?? []) : .binary(bytes?.count ?? 0)
  }

  fileprivate func approval(_ origin: RecordOrigin, _ time: Timestamp?) -> ApprovalRecord {
    var record = PincerApproval.record(
      origin, id: id(.actionId), tool: tool, risk: PincerApproval.risk(self[.riskClass]),
      preview: self[.preview], time: time)
    let summary = self[.deterministicSummary]
    record.summary = summary.isString ? summary.string : nil
    record.expires = self[.expiresAt].rawText.flatMap { Timestamp(rfc3339: $0) }
    return record
  }
}

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

/// What a Pincer server asks a person (CONTRACT.md 5): the same record whether an event tells
/// it or a list.
public enum PincerApproval {
  /// What may be answered.
  public static let decisions = ["approve", "reject"]

  /// A pending approval.
  ///
  /// - Parameters:
  ///   - risk: the name of its class; nil where the server says none.
  ///   - preview: what would be done, a JSON object; absent for nothing.
  ///   - job: the job whose it is; nil for none.
  public static func record(
    _ origin: RecordOrigin, id: String, tool: String, risk: String?, preview: ScanValue,
    job: String? = nil, time: Timestamp?
  ) -> ApprovalRecord {
    // What is decided by comes from the server; a model could name members of a preview so.
    let request = RecordText().string("tool", tool).string("riskClass", risk)
      .json("preview", bytes: preview.isObject ? preview.json : Array("{}".utf8))
      .string("job", job)
    var record = ApprovalRecord(
      origin, id: id, tool: tool, request: request.bytes, decisions: decisions, state: .pending,
      time: time)
    record.risk = risk
    return record
  }

  /// The names of the classes of risk, from 1 (CONTRACT.md 5.4).
  public static let risks = ["READ", "WRITE", "EXFILTRATION", "DESTRUCTIVE", "HIGH"]
  /// The names of the states of an action, from 1.
  public static let states = ["PENDING", "APPROVED", "REJECTED", "EXECUTED"]

  /// The name of a class of risk, by its name or number; nil for none.
  public static func risk(_ value: ScanValue) -> String? { name(value, risks) }

  /// The state of a status, by its name or number; nil for one that is not known.
  ///
  /// - Parameter reason: why; nobody answered in time where it says so.
  public static func state(_ value: ScanValue, reason: String) -> ApprovalRecord.State? {
    switch name(value, states) {
    case "PENDING": .pending
    case "APPROVED": .approved
    case "REJECTED": reason == "expired" ? .expired : .rejected
    case "EXECUTED": .executed
    default: nil
    }
  }

  private static func name(_ value: ScanValue, _ names: [String]) -> String? {
    if value.isString {
      let text = value.string ?? ""
      return text.isEmpty || text.hasSuffix("_UNSPECIFIED") ? nil : text
    }
    guard let number = value.wholeNumber, number > 0 else { return nil }
    return number <= names.count ? names[Int(number) - 1] : String(number)
  }
}
