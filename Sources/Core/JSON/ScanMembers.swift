import CLibc

/// Walks the members of one object, in the order they stand there.
///
/// Keys may be duplicated: the last one counts, as in jq and JavaScript.
public struct ScanMembers {
  private var cursor: ScanCursor
  private var isFirst = true
  /// The current key, between its quotes, escapes as they stand.
  public private(set) var key = ScanValue.absent
  /// The current value.
  public private(set) var value = ScanValue.absent

  /// - Parameter bytes: one object, with optional white space around it.
  /// - Throws: `ScanFault.notAnObject`, `.empty`.
  public init(_ bytes: UnsafeRawBufferPointer) throws(ScanFault) {
    cursor = ScanCursor(bytes)
    try cursor.enterObject()
  }

  /// Steps to the next member.
  ///
  /// - Returns: false when there is none; then the whole of the bytes was seen.
  public mutating func next() throws(ScanFault) -> Bool {
    guard let key = try cursor.nextKey(&isFirst) else {
      try cursor.finish()
      return false
    }
    self.key = key
    value = try cursor.value()
    return true
  }

  /// Whether the current key is this name, after its escapes are decoded.
  public func isKey(_ name: UnsafeRawBufferPointer) -> Bool { key.isName(name) }

  /// The same of a name of the code's own.
  public func isKey(_ name: StaticString) -> Bool { isKey(name.bytes) }

  /// The value of a member, the last of that name; absent if there is none.
  ///
  /// - Parameters:
  ///   - name: the key, unescaped.
  ///   - bytes: one object.
  public static func value(
    of name: String, in bytes: UnsafeRawBufferPointer
  ) throws(ScanFault) -> ScanValue {
    try value(of: Array(name.utf8), in: bytes)
  }

  static func value(
    of name: [UInt8], in bytes: UnsafeRawBufferPointer
  ) throws(ScanFault) -> ScanValue {
    var members = try ScanMembers(bytes)
    var found = ScanValue.absent
    while try members.next() {
      if name.withUnsafeBytes({ members.isKey($0) }) { found = members.value }
    }
    return found
  }

  /// The text of a member that is a string; nil for any other, and for what is no object.
  public static func text(of name: String, in bytes: UnsafeRawBufferPointer) -> String? {
    guard let value = try? value(of: name, in: bytes), value.isString else { return nil }
    return value.string
  }

  /// The same of an object that is kept.
  public static func text(of name: String, in object: [UInt8]) -> String? {
    object.withUnsafeBytes { text(of: name, in: $0) }
  }

  /// A member with its own bytes; nil for one that is not there, and for what is no object.
  public static func copy(of name: String, in object: [UInt8]) -> [UInt8]? {
    object.withUnsafeBytes { bytes in
      guard let value = try? value(of: name, in: bytes), !value.isAbsent else { return nil }
      return Array(value.bytes)
    }
  }
}

extension ScanValue {
  /// The text of a key, whose quotes are not among its bytes.
  public var unescaped: String {
    // The text lies in the scratch, which must live until it is copied.
    let scratch = ScanScratch()
    return withExtendedLifetime(scratch) {
      String(decoding: scratch.text(of: bytes), as: UTF8.self)
    }
  }

  /// Whether this key (its bytes between the quotes) is that name.
  func isName(_ name: UnsafeRawBufferPointer) -> Bool {
    if memchr(start, 0x5c, count) == nil {
      return count == name.count && bytes.elementsEqual(name)
    }
    let scratch = ScanScratch()
    return withExtendedLifetime(scratch) { scratch.text(of: bytes).elementsEqual(name) }
  }
}

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

extension ScanValue {
  /// The elements of an array, up to one that cannot be read; none of anything else.
  public var elements: [ScanValue] {
    var found: [ScanValue] = []
    guard var walk = try? ScanElements(bytes) else { return found }
    while (try? walk.next()) == true { found.append(walk.value) }
    return found
  }
}

extension [UInt8] {
  /// What is read or done of the bytes; it throws as that does.
  public func scan<Value, Fault: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Fault) -> Value
  ) throws(Fault) -> Value {
    try withUnsafeBufferPointer { bytes throws(Fault) in try body(UnsafeRawBufferPointer(bytes)) }
  }
}
