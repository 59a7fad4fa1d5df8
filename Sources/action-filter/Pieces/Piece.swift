import CLibc
import Core
import Records

/// A part of what is to be read, which one thread reads and filters by itself: whole lines.
struct Piece {
  /// What the user called the file; `-` is standard input.
  var path: String
  /// Counted from 1, where a byte order mark may stand; nil: behind the last line of the piece
  /// before.
  var firstLine: Int?
  /// Brings the lines into the buffer that the source was given, in a thread of its own and
  /// beside others that fill theirs; nil where `next` has done so.
  ///
  /// Throws `Failure` when the lines cannot be read, or not to the last one: those that
  /// are in the buffer count, and no piece behind this one does.
  var fill: ((PieceBuffer) throws(Failure) -> Void)?
  /// Whether the pieces behind this one count, too, where it cannot be read.
  var isAlone = false
  /// How many actions are selected, where that is known without reading its lines: all of them,
  /// as they are, or there is nothing to print.
  var taken: Int?

  /// A piece whose lines are in the buffer, if there is nothing to fill it with.
  init(path: String, firstLine: Int? = nil, fill: ((PieceBuffer) throws(Failure) -> Void)? = nil) {
    (self.path, self.firstLine, self.fill) = (path, firstLine, fill)
  }
}

/// Parts what is to be read into pieces, in the order in which their output is written.
///
/// What can be read from any place (spans of a plain file, frames of an archive) is filled
/// by the thread that takes the piece; what can be read only in order (what a decompressor
/// writes) is put into the buffer by `next` itself.
protocol PieceSource: AnyObject {
  /// The next piece; nil when there is no more, and then it is not asked again.
  ///
  /// It is called by any of the threads, but by one at a time, and by none after it has
  /// thrown. It may take its time: the others go on with the pieces that they have.
  func next(_ buffer: PieceBuffer) throws(Failure) -> Piece?
}

enum PieceSize {
  /// Bytes: half of what a core has of second cache, as a rule. A multiple of every size
  /// of a page.
  static let usual = 512 * 1024
  /// What is read behind a span at once, in which its last line ends as a rule.
  static let slack = 4096
}

final class PieceSlot {
  /// The bytes of its lines, which stay until the piece is done with.
  let buffer: PieceBuffer
  let result = PieceResult()
  var piece = Piece(path: "")
  var failure: Failure?
  var isDone = false

  init(size: Int) { buffer = PieceBuffer(capacity: size + PieceSize.slack) }

  /// Makes it ready for another piece.
  func clear(_ size: Int) {
    buffer.clear(keeping: size + PieceSize.slack)
    result.clear(keepingAtMost: 2 * size)
    // It may hold a file open.
    piece = Piece(path: "")
    (failure, isDone) = (nil, false)
  }
}

/// The bytes of one piece, on a page boundary. It is used for one piece after the other and
/// keeps its memory, so that this stays in the cache.
final class PieceBuffer {
  private var pages: PageBuffer
  /// How many bytes were put in.
  var count = 0
  /// Where the lines of the piece stand in them: whole lines, the last one without its LF
  /// if it is the last of its file and has none.
  var lines: Range<Int> = 0..<0
  /// What a source wants to have at hand again when it fills this buffer the next time; it
  /// is used by one thread at a time.
  var tool: AnyObject?

  init(capacity: Int) { pages = PageBuffer(capacity: capacity) }

  /// Where the bytes begin; moves when there is made room.
  var base: UnsafeMutableRawPointer { pages.base }

  var capacity: Int { pages.capacity }

  var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + lines.lowerBound, count: lines.count)
  }

  /// Makes room for so many bytes in all, and keeps those that were put in.
  func reserve(_ wanted: Int) {
    if wanted <= capacity { return }
    pages.grow(to: max(wanted, capacity * 2), keeping: 0, count: count)
  }

  /// Puts a LF behind the last line if it has none, so that all lines can be written as they
  /// stand there; it does not count as one of their bytes.
  func endLastLine() {
    if lines.isEmpty || bytes.last == 10 { return }
    reserve(lines.upperBound + 1)
    base.storeBytes(of: 10, toByteOffset: lines.upperBound, as: UInt8.self)
  }

  /// Forgets the bytes, and gives back the memory that a long line took.
  func clear(keeping usual: Int) {
    (count, lines) = (0, 0..<0)
    if capacity > 4 * usual { pages = PageBuffer(capacity: usual) }
  }
}

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

final class PieceResult {
  struct Bad {
    /// Counted from 1 in the piece.
    let number: Int
    /// Where its bytes are in the lines of the piece, without the LF.
    let line: Range<Int>
    let faults: LineFaults
  }

  /// Lines, one behind the other, that have to be read again, in order.
  struct Candidates {
    let first: Int
    /// Where their bytes are, without the last LF.
    var lines: Range<Int>
  }

  /// How many lines it has; not all were counted where enough was found before its end.
  var lines = 0
  var count = 0
  let output = RecordWriter(collecting: 4096)
  var parts: PieceParts?
  var bad: [Bad] = []
  var unnamed = 0
  var tally: Tally?
  var isCandidates = false
  var candidates: [Candidates] = []

  /// Forgets all, and memory over `limit` bytes.
  func clear(keepingAtMost limit: Int) {
    (lines, count, unnamed) = (0, 0, 0)
    output.clear(keepingAtMost: limit)
    bad.removeAll()
    candidates.removeAll(keepingCapacity: candidates.count < 10_000)
    parts?.clear()
    tally?.clear()
  }
}

/// What a piece gives to write, where most of it are lines as they were read: these are not
/// copied, but named, as many as stand behind each other at once.
struct PieceParts {
  private struct Part {
    /// Nil where they are the next ones of those that were collected.
    let start: UnsafeRawPointer?
    let count: Int
  }

  private var parts: [Part] = []
  private var start: UnsafeRawPointer?
  private var end: UnsafeRawPointer?
  /// How many of the bytes that were collected have their part.
  private var collected = 0

  /// Names a line with a LF behind it.
  @inline(__always)
  mutating func add(_ line: UnsafeRawBufferPointer, behind writer: RecordWriter) {
    guard let base = line.baseAddress else { return }
    if base != end || writer.count != collected {
      close(writer)
      start = base
    }
    end = base + line.count + 1
  }

  /// Names what was not named yet; afterwards all can be written.
  mutating func close(_ writer: RecordWriter) {
    if let start, let end { parts.append(Part(start: start, count: end - start)) }
    (start, end) = (nil, nil)
    if writer.count > collected {
      parts.append(Part(start: nil, count: writer.count - collected))
      collected = writer.count
    }
  }

  func write(_ source: RecordWriter, to writer: RecordWriter) throws(WriteFailure) {
    var passed = 0
    for part in parts {
      if let start = part.start {
        try writer.write(UnsafeRawBufferPointer(start: start, count: part.count))
      } else {
        try writer.write(
          UnsafeRawBufferPointer(rebasing: source.collected[passed..<passed + part.count]))
        passed += part.count
      }
    }
  }

  mutating func clear() {
    parts.removeAll(keepingCapacity: true)
    (start, end, collected) = (nil, nil, 0)
  }
}
