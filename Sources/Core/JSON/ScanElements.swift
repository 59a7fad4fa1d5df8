/// Walks the elements of one array.
public struct ScanElements {
  private var cursor: ScanCursor
  private var isFirst = true
  /// The current element.
  public private(set) var value = ScanValue.absent

  /// - Parameter bytes: one array, with optional white space around it.
  /// - Throws: `ScanFault.notAnArray`, `.empty`.
  public init(_ bytes: UnsafeRawBufferPointer) throws(ScanFault) {
    cursor = ScanCursor(bytes)
    cursor.skipWhite()
    guard cursor.at < cursor.end else { throw .empty }
    guard cursor.at.pointee == UInt8(ascii: "[") else { throw .notAnArray }
    cursor.at += 1
  }

  /// Steps to the next element.
  ///
  /// - Returns: false when there is none.
  /// - Throws: `ScanFault`.
  public mutating func next() throws(ScanFault) -> Bool {
    cursor.skipWhite()
    guard cursor.at < cursor.end else { throw .unbalancedBrackets }
    if cursor.at.pointee == UInt8(ascii: "]") {
      cursor.at += 1
      try cursor.finish()
      return false
    }
    if !isFirst {
      guard cursor.at.pointee == UInt8(ascii: ",") else {
        throw cursor.at.pointee == UInt8(ascii: "}") ? .unbalancedBrackets : .expectedComma
      }
      cursor.at += 1
      cursor.skipWhite()
    }
    isFirst = false
    value = try cursor.value()
    return true
  }
}
