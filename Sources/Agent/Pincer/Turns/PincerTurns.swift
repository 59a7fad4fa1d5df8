import Core
public import Records

/// What the events of a Pincer thread tell of turns (CONTRACT.md 4 and 5).
public struct PincerTurns: TurnDecoder {
  private var (thread, turn, execution) = (LastText(), LastText(), LastText())
  private var clock = LastSecond()
  private var split = SplitText()

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
        switch PincerMember.envelope[members.key] {
        case .eventID?: id = members.value
        case .threadID?: thread = members.value
        case .turnID?: turn = members.value
        case .sequence?: sequence = members.value
        case .time?: time = members.value
        case .payload(let kind)? where members.value.isObject:
          (payload, body) = (kind, members.value)
        case .known?: break
        default: if isPlain { return nil }
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
    if let payload, payload != .other {
      event.change = change(payload, PincerFields(body), event)
    }
    return event
  }

  private mutating func words(
    _ fields: PincerFields, _ event: TurnEvent, _ kind: String
  ) -> String {
    guard let piece = fields.delta.piece else { return "" }
    return split.next(piece, of: "\(event.turn)/\(fields.id(fields.segment))/\(kind)")
  }

  private mutating func change(
    _ payload: PincerPayload, _ fields: PincerFields, _ event: TurnEvent
  ) -> TurnChange {
    switch payload {
    case .started: .started
    case .completed: .completed(message: fields.id(fields.message))
    case .failed: .failed(code: fields.text(fields.code), reason: fields.text(fields.reason))
    case .paused: .paused
    case .resumed: .resumed
    case .thinking:
      .thinking(
        words(fields, event, "thinking"),
        segment: event.turn.isEmpty ? fields.id(fields.segment) : "",
        isRedacted: fields.isRedacted.isTrue)
    case .text:
      .text(
        words(fields, event, "text"),
        segment: event.turn.isEmpty ? fields.id(fields.segment) : "")
    case .committed:
      .committed(message: fields.id(fields.message), text: fields.text(fields.text))
    case .planned:
      .planned(
        call: fields.id(fields.call), tool: fields.text(fields.tool),
        arguments: fields.arguments.isObject ? fields.arguments.json : nil)
    case .executionStarted:
      .executionStarted(
        execution.of(fields.execution), call: fields.id(fields.call),
        tool: fields.text(fields.tool), command: fields.text(fields.command))
    case .output:
      .output(
        execution: execution.of(fields.execution),
        isError: fields.stream.isText("STDERR") || fields.stream.wholeNumber == 2, fields.output)
    case .executionFinished:
      .executionFinished(
        execution.of(fields.execution),
        TurnExecutionEnd(
          exitCode: Int(fields.exitCode.wholeNumber ?? 0),
          milliseconds: Int(fields.milliseconds.wholeNumber ?? 0),
          isTimedOut: fields.isTimedOut.isTrue, isTruncated: fields.isTruncated.isTrue))
    case .proposed: .proposed(fields.approval(event.origin, event.time))
    case .decided:
      PincerApproval.state(fields.status, reason: fields.id(fields.reason)).map {
        .decided(
          approval: fields.id(fields.action), $0, reason: fields.id(fields.reason))
      } ?? .nothing
    case .other: .nothing
    }
  }
}

private struct PincerFields {
  var (message, code, reason, segment) = (
    ScanValue.absent, ScanValue.absent, ScanValue.absent, ScanValue.absent
  )
  var (delta, isRedacted, text, call) = (
    ScanValue.absent, ScanValue.absent, ScanValue.absent, ScanValue.absent
  )
  var (tool, arguments, execution, command) = (
    ScanValue.absent, ScanValue.absent, ScanValue.absent, ScanValue.absent
  )
  var (stream, chunk, isText, exitCode) = (
    ScanValue.absent, ScanValue.absent, ScanValue.absent, ScanValue.absent
  )
  var (milliseconds, isTimedOut, isTruncated, action) = (
    ScanValue.absent, ScanValue.absent, ScanValue.absent, ScanValue.absent
  )
  var (risk, summary, preview, expires, status) = (
    ScanValue.absent, ScanValue.absent, ScanValue.absent, ScanValue.absent, ScanValue.absent
  )

  init(_ body: ScanValue) {
    guard var members = try? ScanMembers(body.bytes) else { return }
    while (try? members.next()) == true {
      let value = members.value
      switch PincerMember.inside[members.key] {
      case .message?: message = value
      case .code?: code = value
      case .reason?: reason = value
      case .segment?: segment = value
      case .delta?: delta = value
      case .isRedacted?: isRedacted = value
      case .text?: text = value
      case .call?: call = value
      case .tool?: tool = value
      case .arguments?: arguments = value
      case .execution?: execution = value
      case .command?: command = value
      case .stream?: stream = value
      case .chunk?: chunk = value
      case .isText?: isText = value
      case .exitCode?: exitCode = value
      case .milliseconds?: milliseconds = value
      case .isTimedOut?: isTimedOut = value
      case .isTruncated?: isTruncated = value
      case .action?: action = value
      case .risk?: risk = value
      case .summary?: summary = value
      case .preview?: preview = value
      case .expires?: expires = value
      case .status?: status = value
      case .eventID?, .threadID?, .turnID?, .sequence?, .time?, .payload?, .known?, nil: break
      }
    }
  }

  func text(_ value: ScanValue) -> String { value.isString ? value.string ?? "" : "" }

  func id(_ value: ScanValue) -> String { value.trimmedText }

  /// What was printed; nothing for a chunk that is no base64.
  var output: TurnOutput {
    var bytes: [UInt8]?
    if let raw = chunk.rawText {
      bytes = Base64.bytes(of: raw)
      // JSON may spell a slash with an escape.
      if bytes == nil, let text = chunk.string {
        bytes = Array(text.utf8).withUnsafeBytes { Base64.bytes(of: $0) }
      }
    }
    return isText.isTrue ? .text(bytes ?? []) : .binary(bytes?.count ?? 0)
  }

  func approval(_ origin: RecordOrigin, _ time: Timestamp?) -> ApprovalRecord {
    let tool = text(tool)
    let risk = PincerApproval.risk(risk)
    var record = PincerApproval.record(
      origin, id: id(action), tool: tool, risk: risk, preview: preview, time: time)
    record.summary = summary.isString ? summary.string : nil
    record.expires = expires.rawText.flatMap { Timestamp(rfc3339: $0) }
    return record
  }
}
