import Core

/// Decodes UTF-8 that is cut anywhere; what is ill-formed becomes U+FFFD.
struct TextDecoder {
  /// The beginning of a character that the last piece ended in: three bytes at most.
  private var started: [UInt8] = []

  /// The text of the next piece, but for an unfinished character at its end.
  mutating func decode(_ piece: [UInt8]) -> String {
    if started.isEmpty, piece.last ?? 0 < 0x80 { return String(decoding: piece, as: UTF8.self) }
    var bytes = started + piece
    let whole = bytes.count - Self.unfinished(bytes)
    started = Array(bytes[whole...])
    bytes.removeSubrange(whole...)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// What an unfinished character at the end of all is shown as; empty for none.
  mutating func finish() -> String {
    defer { started = [] }
    return started.isEmpty ? "" : "\u{fffd}"
  }

  /// How many bytes at the end begin a character that more bytes can finish.
  private static func unfinished(_ bytes: [UInt8]) -> Int {
    for count in 1...3 where count <= bytes.count {
      let first = bytes[bytes.count - count]
      if first & 0xc0 == 0x80 { continue }
      let start = Array(bytes.suffix(count))
      var pieces = UTF8Pieces()
      let isGood = start.withUnsafeBytes { pieces.receive($0) }
      return isGood && !pieces.isWhole ? count : 0
    }
    return 0
  }
}
