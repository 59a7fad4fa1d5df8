import CLibc

/// Bytes that wait in line: put in behind, taken out in front.
///
/// It lies in one piece, so that both ends can be handed to read(2), write(2) and
/// a library as they are. What was taken out gives its room back before more memory is
/// asked for, and an empty queue keeps no more than `keeps` bytes.
public struct ByteQueue: ~Copyable {
  private var base: UnsafeMutableRawPointer?
  private var capacity = 0
  private var head = 0
  private var tail = 0
  private let keeps: Int

  /// An empty queue.
  ///
  /// - Parameter keeps: how much memory it may hold when it is empty, bytes.
  public init(keeps: Int = 64 << 10) { self.keeps = keeps }

  deinit { free(base) }

  /// How many bytes wait.
  public var count: Int { tail - head }

  /// Whether none do.
  public var isEmpty: Bool { tail == head }

  /// The memory held, bytes.
  public var footprint: Int { capacity }

  /// The bytes that wait, valid until the next change.
  public var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base.map { $0 + head }, count: count)
  }

  /// Puts bytes in.
  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    memcpy(room(bytes.count).baseAddress!, source, bytes.count)
    tail += bytes.count
  }

  /// Puts bytes in.
  public mutating func append(_ bytes: ArraySlice<UInt8>) {
    bytes.withUnsafeBytes { append($0) }
  }

  /// Puts bytes in.
  public mutating func append(_ bytes: [UInt8]) { append(bytes[...]) }

  /// A copy of the first bytes, at most so many.
  public func prefix(_ most: Int) -> [UInt8] { Array(bytes.prefix(max(0, most))) }

  /// Memory behind the last byte, to be filled; `put` says how much of it was.
  public mutating func room(_ wanted: Int) -> UnsafeMutableRawBufferPointer {
    if capacity - tail < wanted {
      if capacity - count >= wanted && head >= count {
        memcpy(base!, base! + head, count)
      } else {
        grow(count + wanted)
      }
      tail -= head
      head = 0
    }
    return UnsafeMutableRawBufferPointer(start: base! + tail, count: wanted)
  }

  /// Takes over what was written into `room`.
  public mutating func put(_ added: Int) { tail += added }

  /// Forgets the first bytes.
  public mutating func drop(_ taken: Int) {
    head += taken
    if head >= tail { removeAll() }
  }

  /// Moves as many bytes out as there are and fit.
  public mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let taken = min(count, buffer.count)
    guard taken > 0 else { return 0 }
    memcpy(buffer.baseAddress!, base! + head, taken)
    drop(taken)
    return taken
  }

  /// Moves as many bytes out as there are and fit, at most so many, to the front of
  /// an array.
  public mutating func take(into buffer: inout [UInt8], atMost limit: Int) -> Int {
    buffer.withUnsafeMutableBytes { room in
      take(into: UnsafeMutableRawBufferPointer(rebasing: room.prefix(max(0, limit))))
    }
  }

  /// Forgets all.
  public mutating func removeAll() {
    head = 0
    tail = 0
    guard capacity > keeps else { return }
    free(base)
    base = nil
    capacity = 0
  }

  private mutating func grow(_ wanted: Int) {
    let size = max(wanted, min(capacity * 2, wanted + (1 << 20)), 4096)
    guard let grown = malloc(size) else { Diagnostics.outOfMemory() }
    if count > 0 { memcpy(grown, base! + head, count) }
    free(base)
    base = grown
    capacity = size
  }
}
