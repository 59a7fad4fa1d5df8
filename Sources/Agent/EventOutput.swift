import CLibc
public import Core
import Frames
import Records
import Web

/// Standard output of a command that follows streams, or its archive: which events
/// are printed, and how.
public final class EventOutput {
  private var writer: RecordWriter
  /// Where records go; nil for standard output.
  private let archive: DayFolder?
  /// A failed write of records must be followed by no other: what is behind it would
  /// be taken for all there is.
  private var hasFailed = false
  /// Whether `writer` is for the archive's file.
  private var isOpen = false
  private let selector: EventSelector
  private var records: EventRecord

  /// Told a write that failed, and of which file; nil for standard output.
  var onFailure: (WriteFailure, String?) -> Void = { _, _ in }

  /// - Parameters:
  ///   - events: patterns of types, one of which must match; none for all.
  ///   - dataOnly: the data alone.
  ///   - receivedAt: with the time of receipt.
  ///   - archive: takes the place of standard output.
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

  /// Prints an event if it is wanted.
  ///
  /// - Parameters:
  ///   - event: what the stream dispatched.
  ///   - profile: whose it is, a JSON string; nil where that need not be said.
  /// - Returns: whether it is.
  func write(_ event: StreamEventView, profile: [UInt8]?) -> Bool {
    guard selector.matches(event.type) else { return false }
    attempt { now throws(WriteFailure) in
      try records.write(event, profile: profile, time: now, to: writer)
    }
    return true
  }

  /// Prints a message of a WebSocket.
  ///
  /// - Parameters:
  ///   - message: what the stream handed over.
  ///   - profile: whose it is, a JSON string; nil where that need not be said.
  /// - Returns: true, for each is wanted.
  func write(_ message: SocketMessage, profile: [UInt8]?) -> Bool {
    attempt { now throws(WriteFailure) in
      try records.write(message, profile: profile, time: now, to: writer)
    }
    return true
  }

  /// Whether an archive takes the place of standard output.
  var isArchive: Bool { archive != nil }

  /// Prints a comment as a record.
  func write(comment text: UnsafeRawBufferPointer) {
    let line = RecordText(.comment).string("text", String(decoding: text, as: UTF8.self)).line
    attempt { _ throws(WriteFailure) in try writer.write(line) }
  }

  /// Prints a record that ends in LF.
  func write(record: String) {
    attempt { _ throws(WriteFailure) in try writer.write(record) }
  }

  /// Writes all that is complete.
  func flush() {
    if hasFailed { return }
    do throws(WriteFailure) { try writer.flush() } catch { fail(error) }
  }

  // MARK: - The archive

  /// When `turn` is to be asked again, seconds; infinite without an archive.
  var patience: Double {
    archive == nil ? .infinity : DayFolder.patience
  }

  /// Ends the file of a day that is over.
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

  /// Brings the archive to disk.
  ///
  /// - Returns: whether it is there.
  func sync() -> Bool {
    guard let archive else { return true }
    do throws(WriteFailure) { try archive.sync() } catch { fail(error) }
    return !hasFailed
  }

  /// Whether files of the archive are finished and not yet told of.
  var hasFinished: Bool { archive?.hasFinished == true }

  /// Tells the names of the files that are finished, one a line, on standard output.
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

  /// Writes something, in an archive to the file of this moment.
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

/// Which events are printed, by type.
struct EventSelector {
  private let globs: [Glob]

  init(_ globs: [String]) { self.globs = globs.map { Glob($0.utf8, hasSets: true) } }

  /// Whether events of this type are printed.
  ///
  /// - Parameter type: the event type, empty for `message`.
  func matches(_ type: UnsafeRawBufferPointer) -> Bool {
    if globs.isEmpty { return true }
    return globs.contains { type.isEmpty ? $0.matches("message") : $0.matches(type) }
  }
}
