import CLibc

/// Collects whole lines and writes them with write(2).
///
/// The owner calls `flush` before it may block; a full buffer is written by
/// itself. Nothing is ever written twice, and a failed write is an error.
///
/// One without a descriptor only collects, for another one to write it.
public final class RecordWriter {
  /// Below 0 where nothing is written.
  private let descriptor: Int32
  private let onlyCollects: Bool
  private var buffer: PageBuffer
  /// How many bytes were collected and not written yet.
  public private(set) var count = 0
  /// Asked when a signal may have come while a reader is slow: true gives up the rest.
  private let interrupted: () -> Bool

  /// - Parameters:
  ///   - descriptor: an open file, standard output by default.
  ///   - capacity: bytes collected before they are written.
  ///   - interrupted: asked, when a signal interrupts a write or a wait of at
  ///     most a second, whether the command is to end; then `flush` throws
  ///     `WriteFailure(code: EINTR)`.
  public init(
    descriptor: Int32 = 1, capacity: Int = 256 * 1024, interrupted: @escaping () -> Bool = { false }
  ) {
    (self.descriptor, onlyCollects) = (descriptor, false)
    self.interrupted = interrupted
    buffer = PageBuffer(capacity: capacity)
  }

  /// One that writes nothing, and grows with what it collects.
  ///
  /// - Parameter capacity: bytes for which there is room from the beginning.
  public init(collecting capacity: Int) {
    (descriptor, onlyCollects) = (-1, true)
    interrupted = { false }
    buffer = PageBuffer(capacity: capacity)
  }

  /// What was collected, valid until the next change.
  public var collected: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: buffer.base, count: count)
  }

  /// Forgets what was collected, and memory over `limit` bytes.
  public func clear(keepingAtMost limit: Int) {
    count = 0
    if buffer.capacity > limit { buffer = PageBuffer(capacity: limit) }
  }

  /// Changes what was collected for what another one has.
  public func exchange(with other: RecordWriter) {
    swap(&buffer, &other.buffer)
    swap(&count, &other.count)
  }

  /// Whether bytes wait for `flush`.
  public var isEmpty: Bool { count == 0 }

  /// Adds bytes; pieces larger than the buffer go straight out.
  public func write(_ bytes: UnsafeRawBufferPointer) throws(WriteFailure) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    if bytes.count > buffer.capacity - count {
      try makeRoom(bytes.count)
      if bytes.count >= buffer.capacity {
        try send(bytes)
        return
      }
    }
    memcpy(buffer.base + count, source, bytes.count)
    count += bytes.count
  }

  /// Adds bytes of an array.
  public func write(_ bytes: [UInt8]) throws(WriteFailure) {
    try bytes.withUnsafeBufferPointer { bytes throws(WriteFailure) in
      try write(UnsafeRawBufferPointer(bytes))
    }
  }

  /// Adds text as UTF-8.
  public func write(_ text: String) throws(WriteFailure) {
    var text = text
    var failure: WriteFailure?
    text.withUTF8 { bytes in
      do throws(WriteFailure) { try write(UnsafeRawBufferPointer(bytes)) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Adds a line's bytes and a LF.
  public func writeLine(_ bytes: UnsafeRawBufferPointer) throws(WriteFailure) {
    try write(bytes)
    try newline()
  }

  /// Adds a record and a LF.
  ///
  /// - Parameter isTerminal: whether it goes to a terminal, which then obeys nothing of it; nil for
  ///   what standard output is.
  public func write(json record: [UInt8], isTerminal: Bool? = nil) throws(WriteFailure) {
    guard isTerminal ?? (isatty(1) == 1) else {
      try write(record)
      return try newline()
    }
    var shown = ByteBuffer()
    record.withUnsafeBytes { JSONQuote.appendVisible(json: $0, to: &shown) }
    try writeLine(shown.bytes)
  }

  /// Adds a LF.
  public func newline() throws(WriteFailure) { try write(byte: 10) }

  /// Adds one byte.
  public func write(byte: UInt8) throws(WriteFailure) {
    if count == buffer.capacity { try makeRoom(1) }
    buffer.base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  private func makeRoom(_ wanted: Int) throws(WriteFailure) {
    if !onlyCollects { return try flush() }
    // More than is wanted: a buffer that is just as large would be sent past.
    buffer.grow(to: max(2 * buffer.capacity, count + wanted + 4096), keeping: 0, count: count)
  }

  /// Writes all that was collected. Blocks while the reader is slow.
  public func flush() throws(WriteFailure) {
    if onlyCollects { return }
    let pending = UnsafeRawBufferPointer(start: buffer.base, count: count)
    count = 0
    try send(pending)
  }

  private func send(_ bytes: UnsafeRawBufferPointer) throws(WriteFailure) {
    try writeAll(bytes, to: descriptor, interrupted: interrupted)
  }
}

/// Writes all of some bytes to a file that may be slow.
///
/// - Parameter interrupted: asked after each wait and each part; true ends the writing with EINTR.
public func writeAll(
  _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, interrupted: () -> Bool = { false }
) throws(WriteFailure) {
  var rest = bytes
  while !rest.isEmpty {
    let written = CLibc.write(descriptor, rest.baseAddress, rest.count)
    if written < 0 {
      let code = systemError
      if code == EAGAIN { isWritable(descriptor, within: 1000) }
      if code != EAGAIN && code != EINTR { throw WriteFailure(code: code) }
    } else {
      rest = UnsafeRawBufferPointer(rebasing: rest[written...])
    }
    // A signal that came while waiting counts like one that came in write(2), and one that cuts
    // a long write short must not be followed by another.
    if !rest.isEmpty && interrupted() { throw WriteFailure(code: EINTR) }
  }
}

extension RecordWriter {
  /// Writes a text at once: to standard output, or to another open file.
  public static func print(_ text: String, to descriptor: Int32 = 1) throws(WriteFailure) {
    let writer = RecordWriter(descriptor: descriptor)
    try writer.write(text)
    try writer.flush()
  }

  /// Writes bytes at once to an open file, which messages call by a name.
  public static func write(
    _ bytes: [UInt8], to descriptor: Int32, of place: String
  ) throws(Failure) {
    let writer = RecordWriter(descriptor: descriptor)
    do throws(WriteFailure) {
      try writer.write(bytes)
      try writer.flush()
    } catch {
      throw Failure(code: error.code, place: place)
    }
  }
}

/// The error number that the last failed call of libc left (errno).
public var systemError: Int32 { clibc_errno() }

/// Why bytes could not be written.
public struct WriteFailure: Error, Equatable, Sendable {
  /// The error number of write(2).
  public let code: Int32

  /// - Parameter code: an errno value.
  public init(code: Int32) { self.code = code }

  /// Whether the reader went away.
  public var isClosedPipe: Bool { code == EPIPE }

  /// The system's words, in lower case.
  public var reason: String { systemReason(code) }
}

extension Diagnostics {
  /// Leaves as a failed write to standard output deserves: a closed pipe ends
  /// quietly by SIGPIPE, a write that a signal broke off by that signal, anything else (a
  /// full disk) with one line and status 2.
  public func fail(writing failure: WriteFailure) -> Never {
    if failure.isClosedPipe { Process.die(by: SIGPIPE) }
    if failure.code == EINTR, let signal = EndSignals.next() { Process.die(by: signal) }
    fail("standard output: \(failure.reason)")
  }
}

/// The other end of standard output.
public enum OutputEnd {
  /// Whether the reader of a pipe or socket has gone away (systems differ in how they
  /// say so), or the terminal has. For a command that may write nothing for hours, and
  /// would meet EPIPE only then.
  public static var isClosed: Bool {
    var entry = pollfd(fd: 1, events: 0, revents: 0)
    return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
  }

  /// Whether a write would not wait.
  public static var isWritable: Bool { Core.isWritable(1) }
}
