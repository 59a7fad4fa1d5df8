import CLibc
import Core
import Frames
import Web

/// Turns events into records: `{"event":...,"id":...,"data":...}` on one line
/// (agentutils-records(5)).
struct EventRecord: ~Copyable {
  let dataOnly: Bool
  let receivedAt: Bool
  /// The output is a terminal: controls inside strings are escaped.
  let isTerminal: Bool
  private var line = ByteBuffer()
  private var head = ByteBuffer()
  private var headType = ByteBuffer()
  private var headID = ByteBuffer()
  private var headProfile: [UInt8]?

  init(dataOnly: Bool, receivedAt: Bool, isTerminal: Bool) {
    (self.dataOnly, self.receivedAt, self.isTerminal) = (dataOnly, receivedAt, isTerminal)
  }

  /// `time`: the time of receipt, asked for only when it is wanted.
  mutating func write(
    _ event: StreamEventView, profile: [UInt8]? = nil, time: () -> Timestamp,
    to writer: RecordWriter
  ) throws(WriteFailure) {
    line.removeAll(keepingAtMost: 1 << 20)
    if !dataOnly {
      // Event after event is of one type, and many streams have no ids.
      if receivedAt || !isHead(of: event, profile) { makeHead(event, profile, time) }
      try writer.write(head.bytes)
    }
    try writeData(event.data, to: writer)
    if !dataOnly {
      if event.isPartial { try writer.write(",\"partial\":true") }
      try writer.write(byte: UInt8(ascii: "}"))
    }
    try writer.newline()
  }

  mutating func write(
    _ message: SocketMessage, profile: [UInt8]? = nil, time: () -> Timestamp,
    to writer: RecordWriter
  ) throws(WriteFailure) {
    line.removeAll(keepingAtMost: 1 << 20)
    if !dataOnly {
      line.append("{")
      Self.appendOrigin(profile, receivedAt ? time() : nil, to: &line)
      line.append(message.isText ? "\"data\":" : "\"binary\":")
    }
    if message.isText {
      try writer.write(line.bytes)
      line.removeAll()
      try writeValid(message.bytes, to: writer)
    } else {
      line.append(UInt8(ascii: "\""))
      Base64.append(message.bytes, to: &line)
      line.append(UInt8(ascii: "\""))
    }
    if !dataOnly { line.append(UInt8(ascii: "}")) }
    line.append(10)
    try writer.write(line.bytes)
  }

  private func isHead(of event: StreamEventView, _ profile: [UInt8]?) -> Bool {
    !head.isEmpty && headType.holds(event.type) && headID.holds(event.id)
      && headProfile == profile
  }

  private mutating func makeHead(
    _ event: StreamEventView, _ profile: [UInt8]?, _ time: () -> Timestamp
  ) {
    headType.removeAll()
    headType.append(event.type)
    headID.removeAll()
    headID.append(event.id)
    headProfile = profile
    head.removeAll(keepingAtMost: 1 << 20)
    head.append("{\"event\":")
    if event.type.isEmpty {
      head.append("\"message\"")
    } else {
      JSONQuote.append(event.type, to: &head)
    }
    head.append(",\"id\":")
    JSONQuote.append(event.id, to: &head)
    head.append(",")
    Self.appendOrigin(profile, receivedAt ? time() : nil, to: &head)
    head.append("\"data\":")
  }

  private static func appendOrigin(
    _ profile: [UInt8]?, _ time: Timestamp?, to out: inout ByteBuffer
  ) {
    if let profile {
      out.append("\"profile\":")
      profile.withUnsafeBytes { out.append($0) }
      out.append(",")
    }
    if let time {
      out.append("\"received_at\":\"")
      var text = time.rfc3339
      text.withUTF8 { out.append(UnsafeRawBufferPointer($0)) }
      out.append("\",")
    }
  }

  /// The data raw when it is one JSON value, else as a JSON string.
  private mutating func writeData(
    _ data: UnsafeRawBufferPointer, to writer: RecordWriter
  ) throws(WriteFailure) {
    if UTF8Text.isValid(data) {
      try writeValid(data, to: writer)
      return
    }
    let repaired = UTF8Text.repaired(data)
    var failure: WriteFailure?
    repaired.withUnsafeBytes { bytes in
      do throws(WriteFailure) { try writeValid(bytes, to: writer) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  private mutating func writeValid(
    _ data: UnsafeRawBufferPointer, to writer: RecordWriter
  ) throws(WriteFailure) {
    if !ScanValidator.isValue(data) {
      JSONQuote.append(data, to: &line)
    } else if isTerminal {
      JSONQuote.appendVisible(json: data, to: &line)
    } else {
      return try Self.writeFolded(data, to: writer)
    }
    try Self.writeFolded(line.bytes, to: writer)
    line.removeAll()
  }

  /// No string of valid JSON holds a raw line feed: each is white space.
  private static func writeFolded(
    _ json: UnsafeRawBufferPointer, to writer: RecordWriter
  ) throws(WriteFailure) {
    var rest = json
    while let base = rest.baseAddress, let found = memchr(base, 10, rest.count) {
      let count = UnsafeRawPointer(found) - base
      try writer.write(UnsafeRawBufferPointer(rebasing: rest[..<count]))
      try writer.write(byte: UInt8(ascii: " "))
      rest = UnsafeRawBufferPointer(rebasing: rest[(count + 1)...])
    }
    try writer.write(rest)
  }
}

extension ByteBuffer {
  fileprivate func holds(_ other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count, let base = other.baseAddress, let mine = bytes.baseAddress else {
      return count == other.count
    }
    return memcmp(mine, base, count) == 0
  }
}
