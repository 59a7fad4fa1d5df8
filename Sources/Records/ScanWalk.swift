public import CLibc
public import Core

final class ScanMemory {
  let scan = UnsafeMutablePointer<clibc_scan>.allocate(capacity: 1)

  deinit { scan.deallocate() }
}

/// A walk over the members of objects that the kernels of clibc_scan.h help
/// with: they cross many members at once as far as these are plain, and
/// `ScanCursor` crosses the others, or says what is wrong.
struct ScanWalk {
  var cursor: ScanCursor
  private let scan: UnsafeMutablePointer<clibc_scan>
  private var isFirst = true

  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer, _ memory: ScanMemory) {
    cursor = ScanCursor(bytes)
    scan = memory.scan
    clibc_scan_open(scan, cursor.at, cursor.end)
  }

  @inline(__always)
  mutating func enterObject() throws(ScanFault) {
    try cursor.enterObject()
    isFirst = true
  }

  /// Crosses the members of the object up to its end, or to the next object or
  /// array of a name that is walked. Returns the number of the name at whose object or array the
  /// cursor is; nil behind the closing brace.
  @inline(__always)
  mutating func cross(_ names: ScanNames, into values: ScanValues) throws(ScanFault) -> Int? {
    while true {
      var at: UnsafePointer<UInt8>? = cursor.at
      let stop = clibc_scan_members(scan, &at, &isFirst, names.table, values.room)
      if let at { cursor.at = at }
      if stop >= 0 { return Int(stop) }
      if stop == CLIBC_SCAN_END { return nil }
      if let stop = try crossPlainly(names, into: values) {
        if stop < 0 { return nil }
        return stop
      }
    }
  }

  /// Crosses one member that a kernel does not, or the closing brace. Returns nil after a member,
  /// -1 behind the brace, or the number of a name that is walked.
  private mutating func crossPlainly(
    _ names: ScanNames, into values: ScanValues
  ) throws(ScanFault) -> Int? {
    guard let key = try cursor.nextKey(&isFirst) else {
      // An object that ends is a value of the one around it.
      isFirst = false
      return -1
    }
    let name = names.number(of: key)
    if names.isWalked(name), cursor.at < cursor.end, cursor.at.pointee | 0x20 == 0x7b {
      return name
    }
    values[name] = try value()
    return nil
  }

  @inline(__always)
  mutating func value() throws(ScanFault) -> ScanValue {
    let start = cursor.at
    if start < cursor.end, start.pointee | 0x20 == 0x7b,
      let behind = clibc_scan_container(scan, start)
    {
      cursor.at = behind
      return ScanValue(start: start, count: behind - start)
    }
    return try cursor.value()
  }

  @inline(__always)
  func isAt(_ byte: Unicode.Scalar) -> Bool {
    cursor.at < cursor.end && cursor.at.pointee == UInt8(ascii: byte)
  }
}

/// The names that a walk looks for; their numbers are their places in the list.
final class ScanNames: @unchecked Sendable {
  /// Read only once it is made, by the kernels.
  let table = UnsafeMutablePointer<clibc_names>.allocate(capacity: 1)

  static let unknown = Int(CLIBC_NAMES)

  init(_ texts: [String], walked: [Int] = []) {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    let pointers = copies.map { UnsafePointer<CChar>($0) }
    let bits = walked.reduce(into: UInt64(0)) { $0 |= 1 << UInt64($1) }
    let isMade = clibc_names_make(table, pointers, pointers.count, bits)
    precondition(isMade, "names that the kernels cannot tell")
  }

  deinit { table.deallocate() }

  func isWalked(_ number: Int) -> Bool { table.pointee.walked >> UInt64(number) & 1 == 1 }

  func number(of key: ScanValue) -> Int {
    if key.count == 0 || memchr(key.start, 0x5c, key.count) == nil {
      return clibc_names_find(table, key.start, key.count)
    }
    let scratch = ScanScratch()
    return withExtendedLifetime(scratch) {
      let text = ScanValue(scratch.text(of: key.bytes))
      return clibc_names_find(table, text.start, text.count)
    }
  }
}

@usableFromInline
final class ScanValues {
  static let count = Int(CLIBC_NAMES) + 1
  @usableFromInline let room = UnsafeMutablePointer<clibc_value>.allocate(
    capacity: ScanValues.count)

  init() { clear() }

  deinit { room.deallocate() }

  @inline(__always)
  func clear() {
    room.update(repeating: clibc_value(start: ScanValue.nothing, count: 0), count: Self.count)
  }

  @inlinable @inline(__always)
  subscript(_ number: Int) -> ScanValue {
    get {
      // The memory goes with the object, which is to stay until it was looked at.
      withExtendedLifetime(self) {
        ScanValue(start: room[number].start, count: room[number].count)
      }
    }
    set { room[number] = clibc_value(start: newValue.start, count: newValue.count) }
  }
}
