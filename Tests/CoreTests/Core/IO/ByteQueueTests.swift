import CLibc
import Testing

@testable import Core

@Suite struct ByteQueueTests {
  private func text(_ queue: borrowing ByteQueue) -> String {
    String(decoding: queue.bytes, as: UTF8.self)
  }

  // What cannot be copied cannot stand in an expectation.
  private func count(_ queue: borrowing ByteQueue) -> Int { queue.count }
  private func footprint(_ queue: borrowing ByteQueue) -> Int { queue.footprint }

  private func put(_ text: String, into queue: inout ByteQueue) {
    Array(text.utf8).withUnsafeBytes { queue.append($0) }
  }

  @Test func firstInFirstOut() {
    var queue = ByteQueue()
    #expect(count(queue) == 0)
    put("abc", into: &queue)
    put("def", into: &queue)
    queue.drop(2)
    #expect(text(queue) == "cdef")
    var taken = [UInt8](repeating: 0, count: 3)
    #expect(taken.withUnsafeMutableBytes { queue.take(into: $0) } == 3)
    #expect(taken == Array("cde".utf8))
    #expect(taken.withUnsafeMutableBytes { queue.take(into: $0) } == 1)
    #expect(taken.withUnsafeMutableBytes { queue.take(into: $0) } == 0)
    #expect(count(queue) == 0)
  }

  @Test func arraysAndTheirSlicesGoInAndOut() {
    var queue = ByteQueue()
    queue.append(Array("abcdef".utf8))
    queue.append(Array("xyz".utf8)[1...])
    let front = queue.prefix(2)
    #expect(front == Array("ab".utf8) && queue.prefix(-1).isEmpty && queue.prefix(99).count == 8)
    var taken = [UInt8](repeating: 0, count: 3)
    #expect(queue.take(into: &taken, atMost: 2) == 2)
    #expect(taken == Array("ab\0".utf8))
    #expect(queue.take(into: &taken, atMost: 0) == 0 && queue.take(into: &taken, atMost: -1) == 0)
    #expect(queue.take(into: &taken, atMost: .max) == 3)
    #expect(taken == Array("cde".utf8))
    #expect(text(queue) == "fyz")
  }

  @Test func roomIsFilledBehind() {
    var queue = ByteQueue()
    put("ab", into: &queue)
    queue.room(100).copyBytes(from: Array("cdef".utf8))
    queue.put(2)
    #expect(text(queue) == "abcd")
  }

  /// A queue that is never empty, as in a flood, must not keep what has gone through.
  @Test func aLongStreamKeepsItsMemorySmall() {
    var queue = ByteQueue()
    var expected: UInt8 = 0
    var isIntact = true
    let piece = 16 << 10
    for number in 0..<2000 {
      memset(queue.room(piece).baseAddress!, Int32(number & 255), piece)
      queue.put(piece)
      guard queue.count > 200 << 10 else { continue }
      isIntact = isIntact && queue.bytes[0] == expected && queue.bytes[piece - 1] == expected
      expected &+= 1
      queue.drop(piece)
    }
    #expect(isIntact)
    #expect(footprint(queue) < 1 << 20)
  }

  @Test func anEmptyQueueGivesItsMemoryBack() {
    var queue = ByteQueue(keeps: 64 << 10)
    _ = queue.room(4 << 20)
    queue.put(4 << 20)
    #expect(footprint(queue) >= 4 << 20)
    queue.drop(4 << 20)
    #expect(footprint(queue) == 0)
    put("still usable", into: &queue)
    #expect(text(queue) == "still usable")
  }
}
