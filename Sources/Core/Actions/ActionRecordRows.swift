/// Takes the rows of a list while its line is read, so that they are not
/// walked twice.
public protocol ActionRowReader: AnyObject {
  /// A list begins; what came of an earlier one does not count any more.
  func begin()
  /// The next row.
  ///
  /// - Parameters:
  ///   - fields: its members.
  ///   - action: its object.
  func add(_ fields: ActionFields, _ action: ScanValue)
}

extension ScanCursor {
  /// Crosses an array of objects and hands them over.
  ///
  /// - Returns: false, and the position unchanged, when there is any fault in it
  ///   or an element that is no object.
  mutating func readRows(_ reader: ActionRowReader) -> Bool {
    // A copy stays in registers, and is forgotten after a fault.
    var cursor = self
    reader.begin()
    do throws(ScanFault) {
      try cursor.rows(reader)
    } catch {
      return false
    }
    self = cursor
    return true
  }

  @inline(__always)
  private mutating func rows(_ reader: ActionRowReader) throws(ScanFault) {
    guard at < end, at.pointee == UInt8(ascii: "[") else { throw .notAnArray }
    at += 1
    skipWhite()
    if at < end, at.pointee == UInt8(ascii: "]") {
      at += 1
      return
    }
    while true {
      skipWhite()
      let start = at
      try enterObject()
      var fields = ActionFields()
      var isFirst = true
      while let key = try nextKey(&isFirst) {
        let member = ActionMember(key)
        let value = try value()
        fields.set(member, value)
      }
      reader.add(fields, ScanValue(start: start, count: at - start))
      skipWhite()
      guard at < end else { throw .unbalancedBrackets }
      let byte = at.pointee
      at += 1
      if byte == UInt8(ascii: "]") { return }
      guard byte == UInt8(ascii: ",") else { throw .expectedComma }
    }
  }
}
