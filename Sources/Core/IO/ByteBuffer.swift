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

  /// The bytes held, to be changed in place.
  public var mutableBytes: UnsafeMutableRawBufferPointer {
    mutating get { UnsafeMutableRawBufferPointer(start: base, count: count) }
  }

  /// Whether nothing is held.
  public var isEmpty: Bool { count == 0 }

  /// Adds bytes at the end; amortised linear.
  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    reserve(count + bytes.count)
    memcpy(base! + count, source, bytes.count)
    count += bytes.count
  }

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
    guard let grown = realloc(base, size) else {
      Diagnostics.outOfMemory()
    }
    base = grown
    capacity = size
  }
}
