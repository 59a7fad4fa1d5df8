import Core

/// The event that is being gathered: its data lines and its type, or how much of it
/// was dropped for its size.
///
/// Data of one line that lies in one piece is not copied: it stays where it came, until
/// it is handed over or the piece ends (`keep`).
struct EventDraft: ~Copyable {
  private let limit: Int
  private var type = ByteBuffer()
  private var data = ByteBuffer()
  private var line: UnsafeRawBufferPointer?
  private var dataLines = 0
  private var dropped = 0

  /// - Parameter limit: the most bytes that the data may take.
  init(limit: Int) { self.limit = limit }

  /// Sets the type; the last one counts.
  mutating func set(type bytes: UnsafeRawBufferPointer) {
    type.removeAll()
    type.append(bytes)
  }

  /// Takes a data line whole, where it is, if it is the first one and fits.
  ///
  /// - Parameter bytes: valid up to `keep`.
  /// - Returns: whether it was taken.
  mutating func take(line bytes: UnsafeRawBufferPointer) -> Bool {
    guard dataLines == 0, dropped == 0, bytes.count <= limit else { return false }
    dataLines = 1
    line = bytes
    return true
  }

  /// Begins a data line.
  mutating func beginLine() {
    keep()
    if dataLines > 0 { joinLine() }
    dataLines += 1
  }

  /// Adds to the data line that was begun.
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    if dropped > 0 {
      dropped += bytes.count
    } else if bytes.count > limit - data.count {
      drop(data.count + bytes.count)
    } else {
      data.append(bytes)
    }
  }

  /// Copies what lies in a piece that ends.
  mutating func keep() {
    guard let line else { return }
    data.append(line)
    self.line = nil
  }

  /// The LF between two data lines counts like their bytes.
  private mutating func joinLine() {
    if dropped > 0 {
      dropped += 1
    } else if data.count >= limit {
      drop(data.count + 1)
    } else {
      data.append(10)
    }
  }

  /// Gives the event up.
  mutating func drop(_ size: Int) {
    dropped += max(size, 1)
    line = nil
    data.removeAll(keepingAtMost: 1 << 20)
  }

  /// What was gathered; nil without data lines.
  ///
  /// - Parameters:
  ///   - id: the last event id.
  ///   - isPartial: whether the blank line is missing.
  func item(id: UnsafeRawBufferPointer, isPartial: Bool) -> StreamItem? {
    if dropped > 0 { return .oversize(bytes: dropped) }
    if dataLines == 0 { return nil }
    return .event(
      StreamEventView(type: type.bytes, id: id, data: line ?? data.bytes, isPartial: isPartial))
  }

  /// Begins the next event.
  mutating func forget() {
    line = nil
    data.removeAll(keepingAtMost: 8 << 20)
    type.removeAll()
    dataLines = 0
    dropped = 0
  }
}
