import Core

/// Writes records whose texts grow, one after the other, with memory that is used again.
public final class RecordPen {
  var line = ByteBuffer()
  /// A second as it was spelled last: times that follow each other differ little.
  private var second: Int64 = .min
  private var spelled: [UInt8] = []

  public init() {}

  /// Takes what was written: whole lines.
  ///
  /// - Parameter body: given the bytes, which are gone afterwards.
  public func take<Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    defer { line.removeAll(keepingAtMost: 1 << 20) }
    try body(line.bytes)
  }

  func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { line.append($0) } }

  func add(_ bytes: ArraySlice<UInt8>) { bytes.withUnsafeBytes { line.append($0) } }

  /// Ends a record: its time, as `Timestamp.rfc3339` spells it, the brace and the LF.
  func end(time: Timestamp?) {
    if let time {
      if time.seconds != second || spelled.isEmpty {
        second = time.seconds
        // Without the milliseconds and the Z.
        spelled = Array(Timestamp(seconds: second).rfc3339.utf8.dropLast(4))
      }
      line.append(",\"time\":\"")
      add(spelled)
      let milliseconds = UInt8(ascii: "0")
      let value = Int(time.nanoseconds) / 1_000_000
      line.append(milliseconds + UInt8(value / 100))
      line.append(milliseconds + UInt8(value / 10 % 10))
      line.append(milliseconds + UInt8(value % 10))
      line.append("Z\"")
    }
    line.append("}\n")
  }
}

/// A record with holes for the texts that grow, so that only these are written anew.
struct RecordSkeleton {
  /// What stands before, between and behind the holes, without the closing brace.
  private var parts: [[UInt8]] = []

  /// `record` without texts and time; `holes`: members that grow, no later object has such names.
  init(_ record: [UInt8], holes: [String]) {
    var rest = record.dropLast()
    // Backwards: what a call was made with may have members of any name.
    for hole in holes.reversed() {
      let mark = Array(",\"\(hole)\":\"\"".utf8)
      guard let start = rest.lastPlace(of: mark) else { continue }
      parts.insert(Array(rest[(start + mark.count - 1)...]), at: 0)
      rest = rest[..<(start + mark.count - 1)]
    }
    parts.insert(Array(rest), at: 0)
  }

  func write(_ texts: [GrowingText], time: Timestamp?, with pen: RecordPen) {
    pen.add(parts[0])
    for (text, part) in zip(texts, parts.dropFirst()) {
      text.appendQuoted(to: &pen.line)
      pen.add(part)
    }
    pen.end(time: time)
  }
}

extension ArraySlice<UInt8> {
  fileprivate func lastPlace(of bytes: [UInt8]) -> Int? {
    var start = endIndex - bytes.count
    while start >= startIndex {
      if self[start...].starts(with: bytes) { return start }
      start -= 1
    }
    return nil
  }
}
