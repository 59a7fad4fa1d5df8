/// Puts the lines of a JSON value that was printed over several lines together
/// again, so that `curl ... | jq .` can be read like any record.
///
/// A record on one line passes through. Lines are joined while a bracket is
/// open; a line that begins with a bracket in the first column, which no printer
/// of JSON writes inside a value, begins the next record.
struct RecordJoiner {
  private var pending: [UInt8] = []
  private var depth = 0

  /// The line at which the record that was handed over last began, from 1.
  private(set) var firstLine = 0
  private var line = 0

  mutating func add(
    _ bytes: UnsafeRawBufferPointer, _ receive: (UnsafeRawBufferPointer, _ line: Int) throws -> Void
  ) rethrows {
    line += 1
    if depth > 0, let first = bytes.first, first == 0x7b || first == 0x5b {
      // A list's or an object's own bracket in the first column is a new record.
      try finish(receive)
    }
    if depth == 0 && pending.isEmpty { firstLine = line }
    if pending.isEmpty, Self.isWhole(bytes) { return try receive(bytes, line) }
    scan(bytes)
    if depth <= 0 && pending.isEmpty {
      depth = 0
      return try receive(bytes, line)
    }
    pending += bytes
    pending.append(10)
    if depth <= 0 { try finish(receive) }
  }

  mutating func finish(_ receive: (UnsafeRawBufferPointer, _ line: Int) throws -> Void) rethrows {
    defer {
      pending = []
      depth = 0
    }
    guard !pending.isEmpty else { return }
    try pending.withUnsafeBytes { try receive($0, firstLine) }
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
    // No string goes over the end of a line.
    var isInString = false
    var isEscaped = false
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
  }
}
