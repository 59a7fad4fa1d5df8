import CLibc

/// Bytes that start on a page boundary.
///
/// The kernel copies into a buffer that begins a few bytes past a page, as
/// malloc's large blocks do, up to five times slower.
struct PageBuffer: ~Copyable {
  private(set) var base: UnsafeMutableRawPointer
  private(set) var capacity: Int

  /// - Parameter capacity: bytes, at least one page is taken.
  init(capacity: Int) {
    self.capacity = max(capacity, 4096)
    base = Self.allocate(self.capacity)
  }

  deinit { free(base) }

  /// Makes room for `capacity` bytes, keeping `used` bytes from `start` on at
  /// the front.
  mutating func grow(to capacity: Int, keeping start: Int, count used: Int) {
    let larger = Self.allocate(capacity)
    memcpy(larger, base + start, used)
    free(base)
    base = larger
    self.capacity = capacity
  }

  private static func allocate(_ count: Int) -> UnsafeMutableRawPointer {
    var pointer: UnsafeMutableRawPointer?
    guard posix_memalign(&pointer, 16384, count) == 0, let pointer else {
      // Nothing useful can be done without memory: say so and leave.
      let path = CommandLine.arguments.first ?? "agentutils"
      let name = path.split(separator: "/").last.map(String.init) ?? path
      Diagnostics(program: name).fail("out of memory")
    }
    return pointer
  }
}
