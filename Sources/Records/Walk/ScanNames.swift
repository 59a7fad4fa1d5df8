import CLibc
import Core

/// The names of members that a walk looks for; their numbers are their places in
/// the list.
final class ScanNames: @unchecked Sendable {
  /// Read only once it is made, by the kernels.
  let table = UnsafeMutablePointer<clibc_names>.allocate(capacity: 1)

  /// The number of all other names.
  static let unknown = Int(CLIBC_NAMES)

  /// - Parameters:
  ///   - texts: at most 31 names of 1 to 16 bytes of ASCII.
  ///   - walked: the numbers of those whose objects and arrays are walked by the
  ///     caller instead of crossed.
  init(_ texts: [String], walked: [Int] = []) {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    let pointers = copies.map { UnsafePointer<CChar>($0) }
    let bits = walked.reduce(into: UInt64(0)) { $0 |= 1 << UInt64($1) }
    let isMade = clibc_names_make(table, pointers, pointers.count, bits)
    precondition(isMade, "names that the kernels cannot tell")
  }

  deinit { table.deallocate() }

  /// Whether objects and arrays of this name are walked.
  func isWalked(_ number: Int) -> Bool { table.pointee.walked >> UInt64(number) & 1 == 1 }

  /// The number of the name that a key is, after its escapes are decoded.
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

/// The values of the names of `ScanNames`, in the memory that the kernels fill.
final class ScanValues {
  static let count = Int(CLIBC_NAMES) + 1
  let room = UnsafeMutablePointer<clibc_value>.allocate(capacity: ScanValues.count)

  init() { clear() }

  deinit { room.deallocate() }

  /// Makes all values absent.
  @inline(__always)
  func clear() {
    room.update(repeating: clibc_value(start: ScanValue.nothing, count: 0), count: Self.count)
  }

  /// The value of a name; absent if there was none.
  @inline(__always)
  subscript(_ number: Int) -> ScanValue {
    get { ScanValue(start: room[number].start, count: room[number].count) }
    set { room[number] = clibc_value(start: newValue.start, count: newValue.count) }
  }
}
