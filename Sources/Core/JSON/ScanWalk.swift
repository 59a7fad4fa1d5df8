import CLibc

/// What a `ScanWalk` needs for each record, used again and again.
public final class ScanMemory {
  static let capacity = 24
  let scan = UnsafeMutablePointer<clibc_scan>.allocate(capacity: 1)
  let room = UnsafeMutablePointer<clibc_member>.allocate(capacity: ScanMemory.capacity)

  public init() {}

  deinit {
    scan.deallocate()
    room.deallocate()
  }
}

/// A walk over the members of objects that the kernels of clibc_scan.h help
/// with: they cross several members at once as far as these are plain, and
/// `ScanCursor` crosses the others, or says what is wrong.
struct ScanWalk {
  /// Behind what was crossed, which may be more than what was handed over.
  var cursor: ScanCursor
  private let scan: UnsafeMutablePointer<clibc_scan>
  private let room: UnsafeMutablePointer<clibc_member>
  /// The members crossed ahead, of which those from `index` on were not handed over.
  private var index = 0
  private var count = 0
  private var isFirst = true
  private var current = ScanValue.absent

  /// - Parameters:
  ///   - bytes: what is to be walked; must outlive the walk, as must the memory.
  ///   - memory: used by no other walk at the same time.
  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer, _ memory: ScanMemory) {
    cursor = ScanCursor(bytes)
    (scan, room) = (memory.scan, memory.room)
    clibc_scan_open(scan, cursor.at, cursor.end)
  }

  /// Crosses the opening brace of an object.
  @inline(__always)
  mutating func enterObject() throws(ScanFault) {
    try cursor.enterObject()
    isFirst = true
  }

  /// Crosses the next key and its colon; nil, and behind the closing brace, when
  /// there is no further member.
  @inline(__always)
  mutating func nextKey() throws(ScanFault) -> ScanValue? {
    if index == count {
      index = 0
      var at: UnsafePointer<UInt8>? = cursor.at
      count = clibc_scan_members(scan, &at, isFirst, room, ScanMemory.capacity)
      if count == 0 {
        current = .absent
        let key = try cursor.nextKey(&isFirst)
        // An object that ends is a value of the one around it.
        if key == nil { isFirst = false }
        return key
      }
      if let at { cursor.at = at }
      isFirst = false
    }
    let member = room[index]
    index += 1
    current = ScanValue(start: member.value, count: member.value_count)
    return ScanValue(start: member.key, count: member.key_count)
  }

  /// Whether the value of the current key is not crossed, and begins with a byte.
  @inline(__always)
  func isAtValue(_ byte: Unicode.Scalar) -> Bool {
    current.count == 0 && cursor.at < cursor.end && cursor.at.pointee == UInt8(ascii: byte)
  }

  /// The value of the current key, crossed.
  @inline(__always)
  mutating func value() throws(ScanFault) -> ScanValue {
    if current.count > 0 { return current }
    let start = cursor.at
    if isAtValue("{") || isAtValue("["), let behind = clibc_scan_container(scan, start) {
      cursor.at = behind
      return ScanValue(start: start, count: behind - start)
    }
    return try cursor.value()
  }
}
