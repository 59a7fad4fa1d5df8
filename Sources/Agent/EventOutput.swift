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
