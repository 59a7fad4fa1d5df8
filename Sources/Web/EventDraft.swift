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

  /// `limit`: the most bytes that the data may take.
  init(limit: Int) { self.limit = limit }

  /// Sets the type; the last one counts.
  mutating func set(type bytes: UnsafeRawBufferPointer) {
    type.removeAll()
    type.append(bytes)
  }

  /// Whether it was taken: the first data line, if it fits, where it is; valid up to `keep`.
  mutating func receive(line bytes: UnsafeRawBufferPointer) -> Bool {
    guard dataLines == 0, dropped == 0, bytes.count <= limit else { return false }
    dataLines = 1
    line = bytes
    return true
  }

  mutating func beginLine() {
    keep()
    if dataLines > 0 { joinLine() }
    dataLines += 1
  }

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    if dropped > 0 {
      dropped += bytes.count
    } else if bytes.count > limit - data.count {
      drop(data.count + bytes.count)
    } else {
      data.append(bytes)
    }
  }

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

  mutating func drop(_ size: Int) {
    dropped += max(size, 1)
    line = nil
    data.removeAll(keepingAtMost: 1 << 20)
  }

  /// Nil without data lines; `isPartial`: whether the blank line is missing.
  func item(id: UnsafeRawBufferPointer, isPartial: Bool) -> StreamItem? {
    if dropped > 0 { return .oversize(bytes: dropped) }
    if dataLines == 0 { return nil }
    return .event(
      StreamEventView(type: type.bytes, id: id, data: line ?? data.bytes, isPartial: isPartial))
  }

  mutating func forget() {
    line = nil
    data.removeAll(keepingAtMost: 8 << 20)
    type.removeAll()
    dataLines = 0
    dropped = 0
  }
}
