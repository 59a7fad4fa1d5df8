/// Checks a text that comes in pieces, which may be cut anywhere, for UTF-8. A fault is
/// seen with the first byte that no continuation can mend.
public struct UTF8Pieces: Sendable {
  /// The beginning of a sequence that the last piece ended in: three bytes at most.
  private var started: [UInt8] = []

  /// Before the first piece.
  public init() {}

  /// Whether no sequence is unfinished, so that the text may end here.
  public var isWhole: Bool { started.isEmpty }

  /// Checks the next piece.
  ///
  /// - Returns: false when the text is ill-formed, whatever follows.
  public mutating func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var rest = bytes
    while !started.isEmpty, let next = rest.first {
      started.append(next)
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst())
      if started.withUnsafeBytes(UTF8Text.isValid) {
        started = []
      } else if !Self.canGoOn(started) {
        return false
      }
    }
    guard let fault = UTF8Text.firstFault(rest) else { return true }
    started = Array(rest[fault...].prefix(4))
    return Self.canGoOn(started)
  }

  /// Forgets all, for another text.
  public mutating func restart() { started = [] }

  /// Whether some continuation makes a well-formed sequence of these bytes.
  private static func canGoOn(_ bytes: [UInt8]) -> Bool {
    let length =
      switch bytes.first ?? 0 {
      case 0xc2...0xdf: 2
      case 0xe0...0xef: 3
      case 0xf0...0xf4: 4
      default: 0
      }
    if bytes.count >= length { return false }
    // Each byte that may be second has at least one of these as its neighbour in range.
    return [0x80, 0x90, 0xa0].contains { (filler: UInt8) in
      let missing = length - bytes.count
      let whole = bytes + [filler] + [UInt8](repeating: 0x80, count: missing - 1)
      return whole.withUnsafeBytes(UTF8Text.isValid)
    }
  }
}
