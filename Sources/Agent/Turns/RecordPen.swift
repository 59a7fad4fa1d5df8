import CLibc
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

/// A text that comes in pieces, and its spelling in JSON, which grows with it: written whole
/// again and again, it is quoted once.
final class GrowingText {
  private(set) var text = ""
  /// The JSON of the first `quotedCount` bytes, without the quotes.
  private var quoted = ByteBuffer()
  private var quotedCount = 0

  /// The longest text that is kept, bytes; a piece that would pass it is left out.
  static let mostBytes = 64 << 20

  var count: Int { text.utf8.count }

  func append(_ piece: String) {
    if count + piece.utf8.count <= Self.mostBytes { text += piece }
  }

  func set(_ whole: String) {
    text = whole
    quoted.removeAll()
    quotedCount = 0
  }

  enum Change { case grown, replaced }

  /// What a text of a record changed; nil for nothing.
  func receive(_ new: String, _ kind: TurnText) -> Change? {
    let size = count
    switch kind {
    case .unchanged: return nil
    case .appended:
      append(new)
      return count > size ? .grown : nil
    case .whole:
      guard isBeginning(of: new) else {
        set(new)
        return .replaced
      }
      // What there is has been quoted.
      append(String(decoding: new.utf8.dropFirst(size), as: UTF8.self))
      return count > size ? .grown : nil
    }
  }

  private func isBeginning(of other: String) -> Bool {
    if other.utf8.count < count { return false }
    let size = count
    var other = other
    return text.withUTF8 { mine in
      other.withUTF8 { other in
        guard let mine = mine.baseAddress, let other = other.baseAddress else { return true }
        return memcmp(mine, other, size) == 0
      }
    }
  }

  func beginLine() {
    if let last = text.utf8.last, last != 10 { append("\n") }
  }

  func appendQuoted(to line: inout ByteBuffer) {
    let done = quotedCount
    if done < count {
      var piece = ByteBuffer()
      text.withUTF8 { bytes in
        JSONQuote.append(
          UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[done...])), to: &piece)
      }
      quoted.append(UnsafeRawBufferPointer(rebasing: piece.bytes.dropFirst().dropLast()))
      quotedCount = count
    }
    line.append(quoted.bytes)
  }
}
