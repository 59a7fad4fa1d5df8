import CLibc

/// Looks for several texts at once in whole buffers, and for the escapes that
/// may spell one of their characters.
///
/// JSON spells a character as itself or as `\u` with four digits, but for
/// quotes, backslashes, slashes and controls, which have more spellings: no
/// needle may hold one of these, unless it is a quote around a string.
final class LiteralSearch {
  struct Needle: Equatable {
    /// UTF-8; letters in lower case where their case does not matter.
    var bytes: [UInt8]
    var ignoresCase = false
  }

  static let limit = 16

  private var search = clibc_search()
  private let needles: UnsafeMutablePointer<clibc_needle>
  private let memory: UnsafeMutablePointer<UInt8>

  init(_ list: [Needle]) {
    needles = .allocate(capacity: list.count)
    memory = .allocate(capacity: list.reduce(0) { $0 + 2 * $1.bytes.count })
    var room = memory
    for (index, needle) in list.enumerated() {
      let count = needle.bytes.count
      let (first, second) = Self.rarest(needle)
      for (offset, byte) in needle.bytes.enumerated() {
        room[offset] = byte
        room[count + offset] = needle.ignoresCase && Self.isLetter(byte) ? 0x20 : 0
      }
      needles[index] = clibc_needle(
        bytes: room, fold: room + count, length: UInt32(count), first: UInt32(first),
        second: UInt32(second))
      room += 2 * count
      note(needle)
    }
    search.needles = UnsafePointer(needles)
    search.count = UInt32(list.count)
  }

  deinit {
    needles.deallocate()
    memory.deallocate()
  }

  private func note(_ needle: Needle) {
    withUnsafeMutableBytes(of: &search.escaped) { escaped in
      for byte in needle.bytes where byte < 0x80 {
        escaped[Int(byte)] = 1
        if needle.ignoresCase && Self.isLetter(byte) { escaped[Int(byte ^ 0x20)] = 1 }
      }
      guard needle.bytes.contains(where: { $0 >= 0x80 }) else { return }
      for value in 0x80..<0x100 { escaped[value] = 1 }
    }
    if needle.bytes.contains(where: { $0 >= 0x80 }) { search.wide = true }
  }

  /// Where one of them may begin; nil when there is none in these bytes.
  func find(_ bytes: UnsafeRawBufferPointer) -> Int? { find(bytes, clibc_search_find) }

  /// The same, byte by byte: what `find` must equal.
  func findPlainly(_ bytes: UnsafeRawBufferPointer) -> Int? { find(bytes, clibc_search_plain) }

  @inline(__always)
  private func find(
    _ bytes: UnsafeRawBufferPointer,
    _ kernel: (UnsafePointer<clibc_search>, UnsafePointer<UInt8>, Int) -> Int
  ) -> Int? {
    guard let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
    let position = withUnsafePointer(to: &search) { kernel($0, base, bytes.count) }
    return position < 0 ? nil : position
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

  /// From the most frequent to the seldom in lines of JSON; others are seldom.
  private static let frequent = Array(#""e taoinsr:,dc0l1_um2hp-3g456789f.Tby{}wvk"#.utf8)

  /// The two bytes of a needle that are met least.
  private static func rarest(_ needle: Needle) -> (Int, Int) {
    let order = needle.bytes.indices.sorted { a, b in
      rarity(needle.bytes[a]) > rarity(needle.bytes[b])
    }
    guard order.count > 1 else { return (order[0], order[0]) }
    // The same byte twice tells less than two different ones.
    let second = order.dropFirst().first { needle.bytes[$0] != needle.bytes[order[0]] }
    return (order[0], second ?? order[1])
  }

  private static func rarity(_ byte: UInt8) -> Int {
    frequent.firstIndex(of: byte) ?? frequent.count
  }
}
