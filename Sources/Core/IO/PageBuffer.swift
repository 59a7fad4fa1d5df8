import CLibc

/// Bytes that start on a page boundary.
///
/// The kernel copies into a buffer that begins a few bytes past a page, as
/// malloc's large blocks do, up to five times slower.
struct PageBuffer: ~Copyable {
  private(set) var base: UnsafeMutableRawPointer
  private(set) var capacity: Int

  /// How much is moved at a time: of what is moved, only so much is in memory
  /// twice. A multiple of every page size.
  private static let step = 1 << 20

  /// - Parameter capacity: bytes, at least one page is taken.
  init(capacity: Int) {
    self.capacity = max(capacity, 4096)
    base = Self.allocate(self.capacity)
  }

  deinit { munmap(base, capacity) }

  /// Makes room for `capacity` bytes, keeping `used` bytes from `start` on at
  /// the front. Every page is given back as soon as it was copied: the peak is
  /// one line and not two.
  mutating func grow(to capacity: Int, keeping start: Int, count used: Int) {
    let larger = Self.allocate(capacity)
    var freed = 0
    var copied = 0
    while copied < used {
      let count = min(Self.step, used - copied)
      memcpy(larger + copied, base + start + copied, count)
      copied += count
      let passed = (start + copied) / Self.step * Self.step
      if passed > freed {
        munmap(base + freed, passed - freed)
        freed = passed
      }
    }
    if freed < self.capacity { munmap(base + freed, self.capacity - freed) }
    base = larger
    self.capacity = capacity
  }

  private static func allocate(_ count: Int) -> UnsafeMutableRawPointer {
    let pages = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
    // MAP_FAILED is -1, a cast that Swift cannot import.
    guard let pages, Int(bitPattern: pages) != -1 else {
      Diagnostics.outOfMemory()
    }
    return pages
  }
}
