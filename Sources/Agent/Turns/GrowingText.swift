import CLibc
import Core

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
