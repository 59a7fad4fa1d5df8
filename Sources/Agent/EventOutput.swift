import CLibc
public import Core
import Frames
import Records
import Web

/// Standard output of a command that follows streams, or its archive: which events
/// are printed, and how.
public final class EventOutput {
  private var writer: RecordWriter
  private let archive: DayFolder?
  /// A failed write must be followed by no other: what is behind it would pass for all.
  private var hasFailed = false
  private var isOpen = false
  private let selector: EventSelector
  private var records: EventRecord

  var onFailure: (WriteFailure, String?) -> Void = { _, _ in }

  /// - Parameters:
  ///   - events: patterns of types, one of which must match; none for all.
  ///   - isTerminal: whether a terminal shows it; nil for whether standard output is one.
  public init(
    events: [String] = [], dataOnly: Bool = false, receivedAt: Bool,
    archive: DayFolder? = nil, isTerminal: Bool? = nil
  ) {
    self.archive = archive
    writer = Self.standard
    selector = EventSelector(events)
    records = EventRecord(
      dataOnly: dataOnly, receivedAt: receivedAt,
      isTerminal: archive == nil && isTerminal ?? (isatty(1) == 1))
  }

  /// As much as a pipe holds: a larger buffer would leave the processor's cache.
  private static var standard: RecordWriter {
    RecordWriter(capacity: 64 << 10, interrupted: { EndSignals.hasPending })
  }

  /// Prints an event if it is wanted, and says whether it is.
  func write(_ event: StreamEventView, profile: [UInt8]?) -> Bool {
    guard selector.matches(event.type) else { return false }
    attempt { now throws(WriteFailure) in
      try records.write(event, profile: profile, time: now, to: writer)
    }
    return true
  }

  /// Always true: each message is wanted.
  func write(_ message: SocketMessage, profile: [UInt8]?) -> Bool {
    attempt { now throws(WriteFailure) in
      try records.write(message, profile: profile, time: now, to: writer)
    }
    return true
  }

  var isArchive: Bool { archive != nil }

  func write(comment text: UnsafeRawBufferPointer) {
    let line = RecordText(.comment).string("text", String(decoding: text, as: UTF8.self)).line
    attempt { _ throws(WriteFailure) in try writer.write(line) }
  }

  func write(record: String) {
    attempt { _ throws(WriteFailure) in try writer.write(record) }
  }

  func flush() {
    if hasFailed { return }
    do throws(WriteFailure) { try writer.flush() } catch { fail(error) }
  }

  // MARK: - The archive

  /// When `turn` is to be asked again, seconds; infinite without an archive.
  var patience: Double {
    archive == nil ? .infinity : DayFolder.patience
  }

  func turn() {
    guard let archive, !hasFailed else { return }
    do throws(WriteFailure) { try turn(archive, .now()) } catch { fail(error) }
  }

  private func turn(_ archive: DayFolder, _ now: Timestamp) throws(WriteFailure) {
    guard archive.isOver(now) else { return }
    try writer.flush()
    try archive.turn(now)
    isOpen = false
  }

  /// Brings the archive to disk; false when it is not there.
  func sync() -> Bool {
    guard let archive else { return true }
    do throws(WriteFailure) { try archive.sync() } catch { fail(error) }
    return !hasFailed
  }

  var hasFinished: Bool { archive?.hasFinished == true }

  func tellFinished() {
    guard let archive, archive.hasFinished else { return }
    let standard = Self.standard
    do throws(WriteFailure) {
      for name in archive.takeFinished() { try standard.write(name + "\n") }
      try standard.flush()
    } catch {
      onFailure(error, nil)
    }
  }

  private func attempt(_ write: (() -> Timestamp) throws(WriteFailure) -> Void) {
    if hasFailed { return }
    do throws(WriteFailure) {
      guard let archive else { return try write(Timestamp.now) }
      let now = Timestamp.now()
      try turn(archive, now)
      let descriptor = try archive.open()
      if !isOpen { writer = RecordWriter(descriptor: descriptor) }
      isOpen = true
      try write { now }
    } catch {
      fail(error)
    }
  }

  private func fail(_ failure: WriteFailure) {
    hasFailed = archive != nil
    onFailure(failure, archive?.file)
  }
}

struct EventSelector {
  private let globs: [Glob]

  init(_ globs: [String]) { self.globs = globs.map { Glob($0.utf8, hasSets: true) } }

  func matches(_ type: UnsafeRawBufferPointer) -> Bool {
    if globs.isEmpty { return true }
    return globs.contains { type.isEmpty ? $0.matches("message") : $0.matches(type) }
  }
}

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
    try UTF8Text.repaired(data).scan { bytes throws(WriteFailure) in
      try writeValid(bytes, to: writer)
    }
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
