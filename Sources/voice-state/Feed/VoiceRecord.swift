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

  /// `RecordScan` tells what a record is, as in every command.
  private static func object(
    _ bytes: UnsafeRawBufferPointer, _ received: Timestamp?,
    _ deliver: (VoiceRecord, Timestamp?) -> Void
  ) throws(ScanFault) {
    var scan = RecordScan()
    let shape = try scan.read(bytes)
    var received = received
    if !scan.event.isAbsent {
      received = try text("received_at", of: bytes).flatMap { Timestamp(rfc3339: $0) }
    }
    let object = scan.object
    switch shape {
    case .action: deliver(action(object.bytes), received)
    case .list: try snapshot(scan, received, deliver)
    case .own: deliver(try link(scan.type, bytes), received)
    case .event: deliver(scan.data.isObject ? try session(scan.data) : .other, received)
    case .stats, .voiceState, .unmarked: deliver(try session(object), received)
    }
  }

  /// The rows of a snapshot or a backfill, and the state that its stats bring.
  private static func snapshot(
    _ scan: RecordScan, _ received: Timestamp?, _ deliver: (VoiceRecord, Timestamp?) -> Void
  ) throws(ScanFault) {
    var rows: [UnsafeRawBufferPointer] = []
    var elements = try ScanElements(scan.rows.bytes)
    while try elements.next() {
      if elements.value.isObject { rows.append(elements.value.bytes) }
    }
    for row in rows.reversed() { deliver(action(row), received) }
    if scan.stats.isObject { deliver(try session(scan.stats), received) }
  }

  private static func action(_ bytes: UnsafeRawBufferPointer) -> VoiceRecord {
    guard let value = try? JSONValue.parse(bytes) else { return .other }
    let action = Action(value)
    return action.kind.hasPrefix("voice_") ? .action(action) : .other
  }

  private static func link(
    _ type: ScanValue, _ bytes: UnsafeRawBufferPointer
  ) throws(ScanFault) -> VoiceRecord {
    let wait = try text("retry_in", of: bytes).flatMap { Double($0) }
    return .link(type: type.string ?? "", reason: try text("reason", of: bytes), wait: wait)
  }

  private static func text(
    _ name: String, of bytes: UnsafeRawBufferPointer
  ) throws(ScanFault) -> String? {
    try ScanMembers.value(of: name, in: bytes).string
  }

  /// The state that an object is, or that the runtime in it has; or the session.
  private static func session(_ object: ScanValue) throws(ScanFault) -> VoiceRecord {
    var members = try ScanMembers(object.bytes)
    var runtime = ScanValue.absent
    var hasSessions = false
    var hasSessionID = false
    var hasParts = false
    while try members.next() {
      switch String(decoding: members.key.bytes, as: UTF8.self) {
      case "runtime": runtime = members.value
      case "sessions", "activeCount": hasSessions = true
      case "sessionId": hasSessionID = members.value.isString
      case "participants", "conversation", "voiceChannelId", "recentTurns", "botTurnOpen",
        "activeCaptures":
        hasParts = true
      default: break
      }
    }
    if hasSessions, let state = try? RawState(object.bytes) { return .state(state) }
    if runtime.isObject {
      let voice = try ScanMembers.value(of: "voice", in: runtime.bytes)
      if voice.isObject, let state = try? RawState(voice.bytes) { return .state(state) }
    }
    guard hasSessionID && hasParts, let session = RawSession(object) else { return .other }
    return .session(session)
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
