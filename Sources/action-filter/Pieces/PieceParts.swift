import Core

/// What a piece gives to write, where most of it are lines as they were read: these are not
/// copied, but named, as many as stand behind each other at once.
struct PieceParts {
  private struct Part {
    /// Nil where they are the next ones of those that were collected.
    let start: UnsafeRawPointer?
    let count: Int
  }

  private var parts: [Part] = []
  private var start: UnsafeRawPointer?
  private var end: UnsafeRawPointer?
  /// How many of the bytes that were collected have their part.
  private var collected = 0

  /// Names a line with a LF behind it.
  @inline(__always)
  mutating func add(_ line: UnsafeRawBufferPointer, behind writer: RecordWriter) {
    guard let base = line.baseAddress else { return }
    if base != end || writer.count != collected {
      close(writer)
      start = base
    }
    end = base + line.count + 1
  }

  /// Names what was not named yet; afterwards all can be written.
  mutating func close(_ writer: RecordWriter) {
    if let start, let end { parts.append(Part(start: start, count: end - start)) }
    (start, end) = (nil, nil)
    if writer.count > collected {
      parts.append(Part(start: nil, count: writer.count - collected))
      collected = writer.count
    }
  }

  func write(_ source: RecordWriter, to writer: RecordWriter) throws(WriteFailure) {
    var passed = 0
    for part in parts {
      if let start = part.start {
        try writer.write(UnsafeRawBufferPointer(start: start, count: part.count))
      } else {
        try writer.write(
          UnsafeRawBufferPointer(rebasing: source.collected[passed..<passed + part.count]))
        passed += part.count
      }
    }
  }

  mutating func clear() {
    parts.removeAll(keepingCapacity: true)
    (start, end, collected) = (nil, nil, 0)
  }
}
