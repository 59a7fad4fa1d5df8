import CLibc
import Core
import Web

/// Turns events into records: `{"event":...,"id":...,"data":...}` on one line
/// (agentutils-records(5)).
struct EventRecord: ~Copyable {
  /// The data alone.
  let dataOnly: Bool
  /// With the time of receipt.
  let receivedAt: Bool
  /// The output is a terminal: controls inside strings are escaped.
  let isTerminal: Bool
  private var line = ByteBuffer()

  init(dataOnly: Bool, receivedAt: Bool, isTerminal: Bool) {
    self.dataOnly = dataOnly
    self.receivedAt = receivedAt
    self.isTerminal = isTerminal
  }

  /// Writes one event.
  ///
  /// - Parameters:
  ///   - event: what the stream dispatched.
  ///   - profile: whose it is, a JSON string; nil where that need not be said.
  ///   - time: the time of receipt, asked for when it is wanted.
  ///   - writer: takes the line.
  mutating func write(
    _ event: StreamEventView, profile: [UInt8]? = nil, time: () -> Timestamp,
    to writer: RecordWriter
  ) throws(WriteFailure) {
    line.removeAll(keepingAtMost: 1 << 20)
    if !dataOnly {
      appendHead(event, profile, time)
      try writer.write(line.bytes)
      line.removeAll()
    }
    try writeData(event.data, to: writer)
    if !dataOnly {
      if event.isPartial { try writer.write(",\"partial\":true") }
      line.append(UInt8(ascii: "}"))
    }
    line.append(10)
    try writer.write(line.bytes)
  }

  /// Writes one message of a WebSocket.
  ///
  /// - Parameters:
  ///   - message: its bytes may be changed.
  ///   - profile: whose it is, a JSON string; nil where that need not be said.
  ///   - time: the time of receipt, asked for when it is wanted.
  ///   - writer: takes the line.
  mutating func write(
    _ message: SocketMessage, profile: [UInt8]? = nil, time: () -> Timestamp,
    to writer: RecordWriter
  ) throws(WriteFailure) {
    line.removeAll(keepingAtMost: 1 << 20)
    if !dataOnly {
      append("{")
      appendOrigin(profile, time)
      append(message.isText ? "\"data\":" : "\"binary\":")
    }
    if message.isText {
      try writer.write(line.bytes)
      line.removeAll()
      try writeValid(message.bytes, to: writer)
    } else {
      line.append(UInt8(ascii: "\""))
      Base64.append(UnsafeRawBufferPointer(message.bytes), to: &line)
      line.append(UInt8(ascii: "\""))
    }
    if !dataOnly { line.append(UInt8(ascii: "}")) }
    line.append(10)
    try writer.write(line.bytes)
  }

  private mutating func appendHead(
    _ event: StreamEventView, _ profile: [UInt8]?, _ time: () -> Timestamp
  ) {
    append("{\"event\":")
    if event.type.isEmpty {
      append("\"message\"")
    } else {
      JSONQuote.append(event.type, to: &line)
    }
    append(",\"id\":")
    JSONQuote.append(event.id, to: &line)
    append(",")
    appendOrigin(profile, time)
    append("\"data\":")
  }

  /// Whose it is and when it came, each with a comma behind it.
  private mutating func appendOrigin(_ profile: [UInt8]?, _ time: () -> Timestamp) {
    if let profile {
      append("\"profile\":")
      profile.withUnsafeBytes { line.append($0) }
      append(",")
    }
    if receivedAt { append("\"received_at\":\"\(time().rfc3339)\",") }
  }

  /// The data raw when it is one JSON value, else as a JSON string.
  private mutating func writeData(
    _ data: UnsafeMutableRawBufferPointer, to writer: RecordWriter
  ) throws(WriteFailure) {
    if UTF8Text.isValid(UnsafeRawBufferPointer(data)) {
      try writeValid(data, to: writer)
      return
    }
    var repaired = UTF8Text.repaired(UnsafeRawBufferPointer(data))
    var failure: WriteFailure?
    repaired.withUnsafeMutableBytes { bytes in
      do throws(WriteFailure) { try writeValid(bytes, to: writer) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  private mutating func writeValid(
    _ data: UnsafeMutableRawBufferPointer, to writer: RecordWriter
  ) throws(WriteFailure) {
    let bytes = UnsafeRawBufferPointer(data)
    guard ScanValidator.isValue(bytes) else {
      JSONQuote.append(bytes, to: &line)
      try writer.write(line.bytes)
      line.removeAll()
      return
    }
    Self.foldLines(data)
    if isTerminal {
      JSONQuote.appendVisible(json: bytes, to: &line)
      try writer.write(line.bytes)
      line.removeAll()
    } else {
      try writer.write(bytes)
    }
  }

  /// No string of valid JSON holds a raw line feed: each is white space.
  private static func foldLines(_ data: UnsafeMutableRawBufferPointer) {
    guard var position = data.baseAddress else { return }
    let end = position + data.count
    while let found = memchr(position, 10, end - position) {
      found.storeBytes(of: 32, as: UInt8.self)
      position = found + 1
    }
  }

  private mutating func append(_ text: StaticString) {
    line.append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { line.append(UnsafeRawBufferPointer($0)) }
  }
}
