/// Words as they are put together again, with what a gap leaves behind tidied up: "in `a`, `b`."
/// becomes "in."
struct ProseText {
  private(set) var bytes: [UInt8] = []
  private var isSpaced = false
  /// Whether something was left out since the last word.
  private(set) var isGap = false
  /// Whether something was left out before the first word.
  private var beganWithGap = false

  /// Something is left out here.
  mutating func gap() {
    (isGap, isSpaced) = (true, true)
    if bytes.isEmpty { beganWithGap = true }
  }

  mutating func add(_ byte: UInt8) {
    if byte <= 32 {
      isSpaced = true
      return
    }
    if isGap, isClosed(by: byte) { return }
    if isSpaced, !bytes.isEmpty { bytes.append(32) }
    bytes.append(byte)
    // What follows an opening bracket at once stands in the gap still.
    if !"(\"'".utf8.contains(byte) { (isGap, isSpaced) = (false, false) } else { isSpaced = false }
  }

  /// Closes a quote in which nothing is left, and which goes, too.
  ///
  /// - Returns: whether it was one.
  mutating func isClosed(byQuote mark: ArraySlice<UInt8>) -> Bool {
    guard isGap else { return false }
    for (open, close) in ["«»", "“”", "„“", "「」", "『』", "（）"].map({ ($0.first!, $0.last!) })
    where mark.elementsEqual(close.utf8) && bytes.suffix(open.utf8.count).elementsEqual(open.utf8) {
      bytes.removeLast(open.utf8.count)
      while bytes.last == 32 { bytes.removeLast() }
      isSpaced = true
      if bytes.isEmpty { beganWithGap = true }
      return true
    }
    return false
  }

  /// Puts a mark where the gap began.
  private mutating func isClosed(by byte: UInt8) -> Bool {
    guard ".,;:!?)\"'".utf8.contains(byte) else { return false }
    if bytes.isEmpty { return ".,;:!?)".utf8.contains(byte) }
    let opener: UInt8? =
      switch byte {
      case UInt8(ascii: ")"): UInt8(ascii: "(")
      case UInt8(ascii: "\""), UInt8(ascii: "'"): byte
      default: nil
      }
    if let opener {
      guard bytes.last == opener else {
        if byte == UInt8(ascii: ")") { isSpaced = false }
        return false
      }
      // Nothing is left between the two.
      bytes.removeLast()
      while bytes.last == 32 { bytes.removeLast() }
      isSpaced = true
      return true
    }
    if let last = bytes.last, ",;:".utf8.contains(last) {
      bytes.removeLast()
    } else if let last = bytes.last, ".!?".utf8.contains(last) {
      isSpaced = true
      return true
    }
    bytes.append(byte)
    (isGap, isSpaced) = (byte == UInt8(ascii: ","), false)
    return true
  }

  /// The words, without the dash that followed a gap at their beginning.
  func finished() -> [UInt8] {
    guard beganWithGap else { return bytes }
    var rest = bytes[...]
    while true {
      if let first = rest.first, "-.,;:!?) ".utf8.contains(first) {
        rest = rest.dropFirst()
      } else if rest.starts(with: "–".utf8) || rest.starts(with: "—".utf8) {
        rest = rest.dropFirst(3)
      } else {
        return Array(rest)
      }
    }
  }
}
