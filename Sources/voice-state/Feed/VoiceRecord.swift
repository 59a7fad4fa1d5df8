import Core
import Records

/// What a record means for voice: bare, or wrapped as `sse-tail` writes it.
enum VoiceRecord {
  /// All sessions that there are now.
  case state(RawState)
  /// One session by itself, as `-o json` writes it.
  case session(RawSession)
  /// A voice action, in either spelling.
  case action(Action)
  /// A record about the link: `lost`, `resumed`, `end`.
  case link(type: String, reason: String?, wait: Double?)
  /// Nothing of voice.
  case other

  /// Reads one JSON value: an object, or a list of them.
  ///
  /// - Parameters:
  ///   - bytes: one value with white space around it.
  ///   - deliver: told what it holds, oldest first, and when it was received
  ///     (`received_at`), nil when the record does not say.
  /// - Throws: `ScanFault` when it is neither an object nor a list of objects.
  static func read(
    _ bytes: UnsafeRawBufferPointer, _ deliver: (VoiceRecord, Timestamp?) -> Void
  ) throws(ScanFault) {
    try ScanValidator.validate(bytes)
    guard bytes.first(where: { $0 > 32 }) == UInt8(ascii: "[") else {
      return try object(bytes, nil, deliver)
    }
    var elements = try ScanElements(bytes)
    while try elements.next() {
      guard elements.value.isObject else { throw .notAnObject }
      try object(elements.value.bytes, nil, deliver)
    }
  }

  private static func object(
    _ bytes: UnsafeRawBufferPointer, _ received: Timestamp?,
    _ deliver: (VoiceRecord, Timestamp?) -> Void
  ) throws(ScanFault) {
    let found = try Members(bytes)
    if found.kind.isString {
      deliver(action(bytes), received)
    } else if found.event.isString && !found.data.isAbsent {
      let received = found.receivedAt.string.flatMap { Timestamp(rfc3339: $0) }
      guard found.data.isObject else { return deliver(.other, received) }
      try object(found.data.bytes, received, deliver)
    } else if found.type.isString {
      let wait = found.retryIn.string.flatMap { Double($0) }
      deliver(
        .link(type: found.type.string ?? "", reason: found.reason.string, wait: wait), received)
    } else if found.actions.isArray {
      try snapshot(found, received, deliver)
    } else if let state = found.state {
      deliver(.state(state), received)
    } else if found.isSession, let session = RawSession(ScanValue(bytes.trimmed)) {
      deliver(.session(session), received)
    } else {
      deliver(.other, received)
    }
  }

  /// The rows of a snapshot or a backfill, and the state that its stats bring.
  private static func snapshot(
    _ found: Members, _ received: Timestamp?, _ deliver: (VoiceRecord, Timestamp?) -> Void
  ) throws(ScanFault) {
    var rows: [UnsafeRawBufferPointer] = []
    var elements = try ScanElements(found.actions.bytes)
    while try elements.next() {
      if elements.value.isObject { rows.append(elements.value.bytes) }
    }
    for row in rows.reversed() { deliver(action(row), received) }
    guard found.stats.isObject else { return }
    try object(found.stats.bytes, received, deliver)
  }

  private static func action(_ bytes: UnsafeRawBufferPointer) -> VoiceRecord {
    guard let value = try? JSONValue.parse(bytes) else { return .other }
    let action = Action(value)
    return action.kind.hasPrefix("voice_") ? .action(action) : .other
  }
}

/// The members of a record that tell what it is.
private struct Members {
  var kind = ScanValue.absent, event = ScanValue.absent, data = ScanValue.absent
  var type = ScanValue.absent, reason = ScanValue.absent, retryIn = ScanValue.absent
  var receivedAt = ScanValue.absent
  var actions = ScanValue.absent, stats = ScanValue.absent
  /// The state of the record itself, or of the runtime that came with stats.
  var state: RawState?
  /// Whether this is a session by itself.
  var isSession = false

  init(_ bytes: UnsafeRawBufferPointer) throws(ScanFault) {
    var members = try ScanMembers(bytes)
    var runtime = ScanValue.absent
    var hasSessions = false
    var hasSessionID = false
    var hasParts = false
    while try members.next() {
      let value = members.value
      switch String(decoding: members.key.bytes, as: UTF8.self) {
      case "kind": kind = value
      case "event": event = value
      case "data": data = value
      case "type": type = value
      case "reason": reason = value
      case "retry_in": retryIn = value
      case "received_at": receivedAt = value
      case "actions": actions = value
      case "stats": stats = value
      case "runtime": runtime = value
      case "sessions", "activeCount": hasSessions = true
      case "sessionId": hasSessionID = value.isString
      case "participants", "conversation", "voiceChannelId", "recentTurns", "botTurnOpen",
        "activeCaptures":
        hasParts = true
      default: break
      }
    }
    if hasSessions { state = try? RawState(bytes) }
    if state == nil, runtime.isObject {
      let voice = try ScanMembers.value(of: "voice", in: runtime.bytes)
      if voice.isObject { state = try? RawState(voice.bytes) }
    }
    isSession = hasSessionID && hasParts
  }
}

extension UnsafeRawBufferPointer {
  /// Without white space at both ends.
  fileprivate var trimmed: UnsafeRawBufferPointer {
    guard let first = firstIndex(where: { $0 > 32 }), let last = lastIndex(where: { $0 > 32 })
    else { return UnsafeRawBufferPointer(rebasing: self[..<0]) }
    return UnsafeRawBufferPointer(rebasing: self[first...last])
  }
}

/// Puts the lines of a JSON value that was printed over several lines together
/// again, so that `curl ... | jq .` can be read like any record.
///
/// A record on one line passes through. Lines are joined while a bracket is
/// open; a line that begins with a bracket in the first column, which no printer
/// of JSON writes inside a value, begins the next record.
struct RecordJoiner {
  private var pending: [UInt8] = []
  private var depth = 0
  private var isInString = false
  private var isEscaped = false

  /// The line at which the record that was handed over last began, from 1.
  private(set) var firstLine = 0
  private var line = 0

  /// Takes a line.
  ///
  /// - Parameter take: told each record that is complete with this line; one
  ///   that was cut off is handed over as it is, for its fault to be told.
  mutating func add(
    _ bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer, _ line: Int) throws -> Void
  ) rethrows {
    line += 1
    if depth > 0, let first = bytes.first, first == 0x7b || first == 0x5b {
      // A list's or an object's own bracket in the first column is a new record.
      try finish(take)
    }
    if depth == 0 && pending.isEmpty { firstLine = line }
    if pending.isEmpty, Self.isWhole(bytes) { return try take(bytes, line) }
    scan(bytes)
    if depth <= 0 && pending.isEmpty {
      depth = 0
      isInString = false
      return try take(bytes, line)
    }
    pending += bytes
    pending.append(10)
    if depth <= 0 { try finish(take) }
  }

  /// Hands over what is left at the end of the input.
  mutating func finish(
    _ take: (UnsafeRawBufferPointer, _ line: Int) throws -> Void
  ) rethrows {
    defer {
      pending = []
      depth = 0
      isInString = false
      isEscaped = false
    }
    guard !pending.isEmpty else { return }
    try pending.withUnsafeBytes { try take($0, firstLine) }
  }

  /// Whether a line looks like a whole object: no printer of JSON that uses
  /// several lines ends one that begins with a bracket with another, but for an
  /// empty one.
  private static func isWhole(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count > 2, bytes[0] == 0x7b, let last = bytes.last(where: { $0 > 32 }) else {
      return false
    }
    return last == 0x7d
  }

  private mutating func scan(_ bytes: UnsafeRawBufferPointer) {
    for byte in bytes {
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == 0x5c {
          isEscaped = true
        } else if byte == 0x22 {
          isInString = false
        }
        continue
      }
      switch byte {
      case 0x22: isInString = true
      case 0x7b, 0x5b: depth += 1
      case 0x7d, 0x5d: depth -= 1
      default: break
      }
    }
    // No string goes over the end of a line.
    isInString = false
    isEscaped = false
  }
}
