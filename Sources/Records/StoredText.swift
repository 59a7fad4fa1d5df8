public import Core

/// What a dashboard's store makes of an id or a content that an action came
/// with: null of what JavaScript takes for false, and of anything else its
/// `String`. A live event shows the value before this, its row shows it after.
extension ScanValue {
  /// The text that the row has; nil where the row has null.
  public var storedText: String? {
    let scratch = ScanScratch()
    var text: [UInt8] = []
    let isKept = giveStoredText(scratch) { piece in
      text.append(contentsOf: piece)
      return true
    }
    withExtendedLifetime(scratch) {}
    return isKept ? String(decoding: text, as: UTF8.self) : nil
  }

  /// Gives the text that the row has, in pieces. Returns false where the row has null; nothing was
  /// given then.
  @inline(__always)
  func giveStoredText(
    _ scratch: ScanScratch, _ receive: (UnsafeRawBufferPointer) -> Bool
  ) -> Bool {
    // Nearly all are strings.
    guard isString else { return giveOther(scratch, receive) }
    guard count > 2, let raw = rawText else { return false }
    _ = receive(scratch.text(of: raw))
    return true
  }

  private func giveOther(
    _ scratch: ScanScratch, _ receive: (UnsafeRawBufferPointer) -> Bool
  ) -> Bool {
    guard !isNull else { return false }
    switch start.pointee {
    case UInt8(ascii: "f"): return false
    case UInt8(ascii: "["): giveElements(scratch, receive)
    default:
      if isNumber, double == 0 { return false }
      _ = giveWord(receive)
    }
    return true
  }

  /// An array is its elements with commas between them. Those of an array in it
  /// stand among them, so that all brackets fall away, however deep.
  private func giveElements(
    _ scratch: ScanScratch, _ receive: (UnsafeRawBufferPointer) -> Bool
  ) {
    var cursor = ScanCursor(bytes)
    while cursor.at < cursor.end {
      switch cursor.at.pointee {
      case UInt8(ascii: "["), UInt8(ascii: "]"), 0x20, 0x09, 0x0a, 0x0d: cursor.at += 1
      case UInt8(ascii: ","):
        cursor.at += 1
        guard Self.give(",", receive) else { return }
      default:
        // Only what no value begins with is a fault here: it ends the text.
        guard let value = try? cursor.value() else { return }
        if value.isString, let raw = value.rawText {
          guard receive(scratch.text(of: raw)) else { return }
        } else if !value.isNull {
          guard value.giveWord(receive) else { return }
        }
      }
    }
  }

  private func giveWord(_ receive: (UnsafeRawBufferPointer) -> Bool) -> Bool {
    if isObject { return Self.give("[object Object]", receive) }
    // Whole numbers that a double holds, and words, are their own text.
    guard isNumber, count > 15 || !bytes.allSatisfy({ $0 &- 0x30 < 10 }) else {
      return receive(bytes)
    }
    var text = NumberText.of(double ?? 0)
    return text.withUTF8 { receive(UnsafeRawBufferPointer($0)) }
  }

  private static func give(
    _ text: StaticString, _ receive: (UnsafeRawBufferPointer) -> Bool
  ) -> Bool {
    receive(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}
