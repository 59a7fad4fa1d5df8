import CLibc

/// The bytes of one JSON value inside a record, or of none: a slice, valid as
/// long as the record's bytes are.
public struct ScanValue {
  /// The first byte.
  public let start: UnsafePointer<UInt8>
  /// How many bytes; 0 when absent.
  public let count: Int

  /// No value: the member is not there.
  @inlinable
  public static var absent: ScanValue { ScanValue(start: nothing, count: 0) }

  /// Where a value begins that is not there.
  @inlinable
  public static var nothing: UnsafePointer<UInt8> { ("" as StaticString).utf8Start }

  @inlinable @inline(__always)
  public init(start: UnsafePointer<UInt8>, count: Int) {
    (self.start, self.count) = (start, count)
  }

  /// - Parameter bytes: one value without white space around it.
  public init(_ bytes: UnsafeRawBufferPointer) {
    start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? Self.nothing
    count = bytes.count
  }

  /// The value as it stands in the record, quotes and escapes included; empty
  /// when absent.
  @inlinable
  public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

  /// Whether the member is not there.
  @inlinable
  public var isAbsent: Bool { count == 0 }
  /// Whether the member is not there or null, which mean the same to us.
  @inlinable @inline(__always)
  public var isNull: Bool { count == 0 || start.pointee == UInt8(ascii: "n") }
  /// Whether it is a string.
  @inlinable @inline(__always)
  public var isString: Bool { count >= 2 && start.pointee == UInt8(ascii: "\"") }
  /// Whether it is an object.
  @inlinable
  public var isObject: Bool { count > 0 && start.pointee == UInt8(ascii: "{") }
  /// Whether it is an array.
  @inlinable
  public var isArray: Bool { count > 0 && start.pointee == UInt8(ascii: "[") }
  /// Whether it is a number.
  @inlinable
  public var isNumber: Bool {
    count > 0 && (start.pointee == UInt8(ascii: "-") || start.pointee &- 0x30 < 10)
  }

  /// What is between the quotes of a string, escapes and all; the token of a
  /// number, true or false; nil for null, absent, objects and arrays.
  ///
  /// This is how ids compare: `"17"` and `17` are the same id.
  @inlinable
  public var rawText: UnsafeRawBufferPointer? {
    if isString { return UnsafeRawBufferPointer(start: start + 1, count: count - 2) }
    if isNull || isObject || isArray { return nil }
    return bytes
  }

  /// Whether it is spelled so.
  public func isWord(_ word: StaticString) -> Bool { bytes.elementsEqual(word.bytes) }

  /// The text of a string, or the token of a number, true or false, as a
  /// Swift string; nil for null, absent, objects and arrays.
  public var string: String? {
    guard let raw = rawText else { return nil }
    guard let start = raw.baseAddress, memchr(start, 0x5c, raw.count) != nil else {
      return String(decoding: raw, as: UTF8.self)
    }
    let scratch = ScanScratch()
    return withExtendedLifetime(scratch) {
      String(decoding: scratch.text(of: raw), as: UTF8.self)
    }
  }
}

/// Why bytes are not the JSON they should be (RFC 8259).
public enum ScanFault: Error, Equatable, Sendable {
  /// Nothing but white space.
  case empty
  /// The first thing is not a `{`.
  case notAnObject
  /// The first thing is not a `[`.
  case notAnArray
  /// Something follows the value that is not white space.
  case textAfterValue
  /// A string without its closing quote.
  case unterminatedString
  /// A bracket that is never closed, or closed by the other kind.
  case unbalancedBrackets
  /// A member that does not begin with a string.
  case expectedKey
  /// A key without a colon behind it.
  case expectedColon
  /// Two values without a comma between them.
  case expectedComma
  /// A comma or a colon without a value behind it.
  case expectedValue
  /// A word that is none of true, false, null and a number.
  case badWord
  /// A number that the grammar does not know: `01`, `1.`, `+1`.
  case badNumber
  /// A backslash followed by something unknown.
  case badEscape
  /// A control character inside a string.
  case controlCharacter

  /// The fault in words, lower case: `unterminated string`.
  public var reason: String {
    switch self {
    case .empty: "no value"
    case .notAnObject: "not a JSON object"
    case .notAnArray: "not a JSON array"
    case .textAfterValue: "text after the value"
    case .unterminatedString: "unterminated string"
    case .unbalancedBrackets: "unbalanced brackets"
    case .expectedKey: "a key is missing"
    case .expectedColon: "a colon is missing"
    case .expectedComma: "a comma is missing"
    case .expectedValue: "a value is missing"
    case .badWord: "a word without quotes"
    case .badNumber: "not a number"
    case .badEscape: "unknown escape in a string"
    case .controlCharacter: "control character in a string"
    }
  }
}
