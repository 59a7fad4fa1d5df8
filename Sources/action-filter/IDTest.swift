import Core

/// An id that an action is to have: a JSON string of this text, or a number
/// that is the same.
struct IDTest {
  let text: [UInt8]

  /// - Parameter text: the id.
  init(_ text: String) { self.text = Array(text.utf8) }

  /// Whether a member is this id; null and absent are none.
  func matches(_ value: ScanValue, _ scratch: ScanScratch) -> Bool {
    (value.isString || value.isNumber) && equals(value, text, scratch)
  }
}

/// Whether a string, a number, true or false is what a person wrote: strings
/// compare after their escapes, numbers as numbers.
func equals(_ value: ScanValue, _ text: [UInt8], _ scratch: ScanScratch) -> Bool {
  guard let raw = value.rawText else { return false }
  if value.isString {
    let decoded = scratch.text(of: raw)
    return decoded.count == text.count && decoded.elementsEqual(text)
  }
  if raw.count == text.count && raw.elementsEqual(text) { return true }
  return text.withUnsafeBytes { bytes in
    guard let number = ScanNumber(value), let other = ScanNumber(bytes) else { return false }
    return number.compare(other) == 0
  }
}
