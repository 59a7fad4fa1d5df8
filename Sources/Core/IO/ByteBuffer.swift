import CLibc

/// A growing run of bytes that keeps its memory between uses.
///
/// It grows by realloc(3), which moves the pages of a large block instead of
/// copying them: a 64 MB event costs 64 MB, not twice that.
public struct ByteBuffer: ~Copyable {
  private var base: UnsafeMutableRawPointer?
  private var capacity = 0
  /// The number of bytes held.
  public private(set) var count = 0

  /// Makes an empty buffer without memory.
  public init() {}

  deinit { free(base) }

  /// The bytes held, valid until the next change.
  public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// Whether nothing is held.
  public var isEmpty: Bool { count == 0 }

  /// Adds bytes at the end; amortised linear.
  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    reserve(count + bytes.count)
    memcpy(base! + count, source, bytes.count)
    count += bytes.count
  }

  /// Adds a text of the code's own.
  public mutating func append(_ text: StaticString) { append(text.bytes) }

  /// Adds one byte at the end.
  public mutating func append(_ byte: UInt8) {
    if count == capacity { reserve(count + 1) }
    base!.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  /// Forgets the bytes, keeps the memory.
  public mutating func removeAll() { count = 0 }

  /// Forgets the bytes and gives memory over `limit` bytes back.
  public mutating func removeAll(keepingAtMost limit: Int) {
    count = 0
    if capacity > limit {
      free(base)
      base = nil
      capacity = 0
    }
  }

  private mutating func reserve(_ wanted: Int) {
    if wanted <= capacity { return }
    let size = max(wanted, capacity * 2, 256)
    guard let grown = realloc(base, size) else { Diagnostics.outOfMemory() }
    base = grown
    capacity = size
  }
}

extension StaticString {
  /// Its bytes, which are there for good.
  public var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
  }
}

/// Bytes that start on a page boundary.
///
/// The kernel copies into a buffer that begins a few bytes past a page, as
/// malloc's large blocks do, up to five times slower.
public struct PageBuffer: ~Copyable {
  /// Where the bytes begin.
  public private(set) var base: UnsafeMutableRawPointer
  /// How many bytes there is room for.
  public private(set) var capacity: Int

  /// How much is moved at a time, and so in memory twice; a multiple of every page size.
  private static let step = 1 << 20

  /// - Parameter capacity: bytes, at least one page is taken.
  public init(capacity: Int) {
    self.capacity = max(capacity, 4096)
    base = Self.allocate(self.capacity)
  }

  deinit { munmap(base, capacity) }

  /// Makes room for `capacity` bytes, keeping `used` bytes from `start` on at
  /// the front. Every page is given back as soon as it was copied: the peak is
  /// one line and not two.
  public mutating func grow(to capacity: Int, keeping start: Int, count used: Int) {
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
    guard let pages, Int(bitPattern: pages) != -1 else { Diagnostics.outOfMemory() }
    return pages
  }
}
