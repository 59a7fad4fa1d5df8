/// Bytes that wait, first in, first out, at most so many.
struct ByteQueue {
  /// The most that it holds.
  let limit: Int
  private var bytes: [UInt8] = []
  private var head = 0

  init(limit: Int) { self.limit = limit }

  var count: Int { bytes.count - head }
  var isEmpty: Bool { head == bytes.count }
  /// How many more it takes; `append` takes more when it must.
  var room: Int { max(0, limit - count) }

  mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: bytes.capacity <= limit)
    head = 0
  }

  /// Gives the bytes to a function that takes some from the front.
  ///
  /// - Parameter take: how many it took; none when negative.
  /// - Returns: what `take` returned, 0 when there is nothing.
  @discardableResult
  mutating func give(_ take: (UnsafeRawBufferPointer) -> Int) -> Int {
    guard !isEmpty else { return 0 }
    let count = bytes.withUnsafeBytes { take(UnsafeRawBufferPointer(rebasing: $0[head...])) }
    head += max(0, count)
    if head == bytes.count {
      removeAll()
    } else if head > limit / 2 {
      // Without this it would grow as long as it is never empty.
      bytes.removeSubrange(..<head)
      head = 0
    }
    return count
  }
}
