import CLibc
import Core
import Records

struct PieceLines {
  private var bytes: UnsafeRawBufferPointer
  private let isStart: Bool
  private var start = 0
  private(set) var count = 0

  init(_ bytes: UnsafeRawBufferPointer, isStart: Bool) {
    (self.bytes, self.isStart) = (bytes, isStart)
  }

  init(_ slot: PieceSlot) { self.init(slot.buffer.bytes, isStart: slot.piece.firstLine == 1) }

  /// The next line, its number counted from 1 in the piece; nil behind the last one.
  @inline(__always)
  mutating func next() -> RecordInput.Line? {
    guard start < bytes.count, let base = bytes.baseAddress else { return nil }
    let stop = memchr(base + start, 10, bytes.count - start)
    return line(upTo: stop.map { UnsafeRawPointer($0) - base })
  }

  mutating func next(with search: LiteralSearch) -> RecordInput.Line? {
    while start < bytes.count, let base = bytes.baseAddress {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
      let place = search.find(rest) ?? rest.count
      let passed = clibc_memrchr(base + start, 10, place).map { $0 - (base + start) + 1 } ?? 0
      count += clibc_count_lines(base + start, passed)
      start += passed
      guard let line = next() else { return nil }
      // Found in a line and the next one, it is in neither.
      if search.find(line.bytes) != nil { return line }
    }
    return nil
  }

  /// Lines that were seen before.
  func part(_ range: Range<Int>, from number: Int) -> PieceLines {
    var part = self
    part.bytes = UnsafeRawBufferPointer(rebasing: bytes[..<min(range.upperBound + 1, bytes.count)])
    (part.start, part.count) = (range.lowerBound, number - 1)
    return part
  }

  /// A line that was seen before.
  func line(at range: Range<Int>, number: Int) -> RecordInput.Line {
    RecordInput.Line(
      UnsafeRawBufferPointer(rebasing: bytes[range]), number: number,
      isTerminated: range.upperBound < bytes.count, isFirst: isStart && number == 1)
  }

  func range(of line: RecordInput.Line) -> Range<Int> {
    guard let base = bytes.baseAddress, let start = line.whole.baseAddress else { return 0..<0 }
    return start - base..<start - base + line.whole.count
  }

  @inline(__always)
  private mutating func line(upTo end: Int?) -> RecordInput.Line {
    let stop = end ?? bytes.count
    let whole = UnsafeRawBufferPointer(rebasing: bytes[start..<stop])
    start = stop + 1
    count += 1
    return RecordInput.Line(
      whole, number: count, isTerminated: end != nil, isFirst: isStart && count == 1)
  }
}
