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

  /// - Parameters:
  ///   - start: the first byte of a value without white space around it.
  ///   - count: how many bytes it has.
  @inlinable @inline(__always)
  public init(start: UnsafePointer<UInt8>, count: Int) {
    self.start = start
    self.count = count
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
  public var rawText: UnsafeRawBufferPointer? {
    if isString { return UnsafeRawBufferPointer(start: start + 1, count: count - 2) }
    if isNull || isObject || isArray { return nil }
    return bytes
  }

  /// The text of a string, or the token of a number, true or false, as a
  /// Swift string; nil for null, absent, objects and arrays.
  public var string: String? {
    guard let raw = rawText else { return nil }
    let scratch = ScanScratch()
    return withExtendedLifetime(scratch) {
      String(decoding: scratch.text(of: raw), as: UTF8.self)
    }
  }
}
