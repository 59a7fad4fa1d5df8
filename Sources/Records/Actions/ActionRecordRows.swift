import Core

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

extension ScanWalk {
  /// Crosses an array of objects, at whose bracket the cursor is, and hands them
  /// over.
  ///
  /// - Parameters:
  ///   - reader: takes the rows.
  ///   - names: those of `ActionMember`.
  ///   - values: memory for the members of a row.
  /// - Returns: false, and the position unchanged, when there is any fault in it
  ///   or an element that is no object.
  mutating func readRows(
    _ reader: ActionRowReader, _ names: ScanNames, _ values: ScanValues
  ) -> Bool {
    // A copy stays in registers, and is forgotten after a fault.
    var walk = self
    reader.begin()
    do throws(ScanFault) {
      try walk.rows(reader, names, values)
    } catch {
      return false
    }
    self = walk
    return true
  }

  private mutating func rows(
    _ reader: ActionRowReader, _ names: ScanNames, _ values: ScanValues
  ) throws(ScanFault) {
    cursor.at += 1
    cursor.skipWhite()
    if isAt("]") {
      cursor.at += 1
      return
    }
    while true {
      cursor.skipWhite()
      let start = cursor.at
      try enterObject()
      values.clear()
      while let name = try cross(names, into: values) { values[name] = try value() }
      reader.add(ActionFields(values), ScanValue(start: start, count: cursor.at - start))
      cursor.skipWhite()
      guard cursor.at < cursor.end else { throw .unbalancedBrackets }
      let byte = cursor.at.pointee
      cursor.at += 1
      if byte == UInt8(ascii: "]") { return }
      guard byte == UInt8(ascii: ",") else { throw .expectedComma }
    }
  }
}
