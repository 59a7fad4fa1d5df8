import CLibc
import Testing

@testable import Core

@Suite struct PageBufferTests {
  /// More than a few of the steps in which it moves, from any place.
  @Test(arguments: [0, 1, 4096, 1 << 20, (1 << 20) + 77, 3_000_001])
  func growsWithWhatItHolds(start: Int) {
    let size = 6_000_000
    var buffer = PageBuffer(capacity: size)
    func byte(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: index &* 31 ^ index >> 12) }
    for index in 0..<size {
      buffer.base.storeBytes(of: byte(index), toByteOffset: index, as: UInt8.self)
    }
    for used in [size - start, (size - start) / 2, 0] {
      buffer.grow(to: buffer.capacity + size, keeping: start, count: used)
      #expect(UInt(bitPattern: buffer.base) % UInt(sysconf(Int32(_SC_PAGESIZE))) == 0)
      let held = UnsafeRawBufferPointer(start: buffer.base, count: used)
      #expect(held.indices.allSatisfy { held[$0] == byte(start + $0) })
      // All of it can be written.
      memset(buffer.base, 0, buffer.capacity)
      for index in 0..<size {
        buffer.base.storeBytes(of: byte(index), toByteOffset: index, as: UInt8.self)
      }
    }
  }

  @Test func isNeverEmpty() {
    let buffer = PageBuffer(capacity: 0)
    #expect(buffer.capacity >= 4096)
  }
}
