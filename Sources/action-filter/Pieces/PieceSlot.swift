import CLibc
import Core
import Records

/// The place of one piece between the thread that reads it and the one that puts all
/// together: its bytes, and what came of them.
final class PieceSlot {
  /// The bytes of its lines, which stay until the piece is done with.
  let buffer: PieceBuffer
  /// What came of them.
  let result = PieceResult()
  /// What the piece is.
  var piece = Piece(path: "")
  /// Why it could not be read to its end.
  var failure: ReadFailure?
  /// Whether all work on it is done; the engine's.
  var isDone = false

  /// - Parameter size: how much is read at a time, bytes.
  init(size: Int) { buffer = PieceBuffer(capacity: size + PieceSize.slack) }

  /// Makes it ready for another piece.
  ///
  /// - Parameter size: how much is read at a time, bytes.
  func clear(_ size: Int) {
    buffer.clear(keeping: size + PieceSize.slack)
    result.clear(keepingAtMost: 2 * size)
    (failure, isDone) = (nil, false)
  }
}

/// What came of a piece.
final class PieceResult {
  /// A bad line.
  struct Bad {
    /// Counted from 1 in the piece.
    let number: Int
    /// Where its bytes are in the lines of the piece, without the LF.
    let line: Range<Int>
    let faults: LineFaults
  }

  /// A line that has to be read again, in order.
  struct Candidate {
    /// See `Bad`.
    let number: Int
    let line: Range<Int>
  }

  /// How many lines it has; not all were counted where enough was found before its end.
  var lines = 0
  /// How many actions were selected.
  var count = 0
  /// What is to be written.
  let output = RecordWriter(collecting: 4096)
  /// In which order, where it is not in one piece.
  var parts: PieceParts?
  var bad: [Bad] = []
  /// What its actions come to, where they are counted by groups.
  var tally: Tally?
  /// Whether the thread only looked for lines that matter, and which these are.
  var isCandidates = false
  var candidates: [Candidate] = []

  /// Forgets all, and memory over `limit` bytes of output.
  func clear(keepingAtMost limit: Int) {
    (lines, count) = (0, 0)
    output.clear(keepingAtMost: limit)
    bad.removeAll()
    candidates.removeAll(keepingCapacity: candidates.count < 10_000)
    parts?.clear()
    tally?.clear()
  }
}

/// The lines of a piece, one after the other.
struct PieceLines {
  private let bytes: UnsafeRawBufferPointer
  private let isStart: Bool
  private var start = 0
  /// How many lines were passed.
  private(set) var count = 0

  /// - Parameters:
  ///   - bytes: whole lines; only the last one may have no LF.
  ///   - isStart: whether a file begins with them.
  init(_ bytes: UnsafeRawBufferPointer, isStart: Bool) {
    (self.bytes, self.isStart) = (bytes, isStart)
  }

  /// The lines of a piece that was read.
  init(_ slot: PieceSlot) { self.init(slot.buffer.bytes, isStart: slot.piece.firstLine == 1) }

  /// The next line, its number counted from 1 in the piece; nil behind the last one.
  @inline(__always)
  mutating func next() -> RecordInput.Line? {
    guard start < bytes.count, let base = bytes.baseAddress else { return nil }
    let stop = memchr(base + start, 10, bytes.count - start)
    return line(upTo: stop.map { UnsafeRawPointer($0) - base })
  }

  /// The next line that holds what is looked for.
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

  /// A line that was seen before.
  ///
  /// - Parameters:
  ///   - range: where its bytes are.
  ///   - number: its number in the piece.
  func line(at range: Range<Int>, number: Int) -> RecordInput.Line {
    RecordInput.Line(
      UnsafeRawBufferPointer(rebasing: bytes[range]), number: number,
      isTerminated: range.upperBound < bytes.count, isFirst: isStart && number == 1)
  }

  /// Where the bytes of a line are.
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
