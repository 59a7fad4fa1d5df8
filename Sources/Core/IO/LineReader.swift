import CLibc

/// Reads lines with read(2) into one page-aligned buffer.
///
/// A line ends at LF alone; a CR before it belongs to the line. NUL bytes are
/// bytes, unless holes are passed over. A line may be as long as memory allows; each of its bytes is looked
/// at once.
public struct LineReader: ~Copyable {
  /// One line, valid until the next call of `next`.
  public struct Line {
    /// The bytes without the LF.
    public let bytes: UnsafeRawBufferPointer
    /// False for a last line without LF.
    public let terminated: Bool
  }

  private let descriptor: Int32
  private let isFile: Bool
  private var buffer: PageBuffer
  /// A long line is to bring no others into memory, whatever the buffer has grown to.
  private let step: Int
  private var start = 0
  private var scanned = 0
  private var end = 0
  /// Where the last complete line ends, as long as `end` is where it was.
  private var complete = 0
  private var completeTo = -1
  private var lastReadWasShort = false
  /// Whether a long run of NUL bytes, as a crash or a sparse file leaves it, is shortened.
  private let passesHoles: Bool
  /// The first bytes that were read, at most 16.
  public private(set) var opening: [UInt8] = []
  private var atEnd = false

  /// - Parameters:
  ///   - descriptor: an open file; the caller closes it.
  ///   - capacity: the size of one read, bytes.
  ///   - passesHoles: whether of a long run of NUL bytes only its beginning is told.
  public init(descriptor: Int32, capacity: Int = 256 * 1024, passesHoles: Bool = false) {
    (self.descriptor, self.passesHoles) = (descriptor, passesHoles)
    buffer = PageBuffer(capacity: capacity)
    step = buffer.capacity
    isFile = stat(of: descriptor)?.isRegular == true
  }

  /// The next line, or nil at the end of the file.
  ///
  /// - Parameter beforeBlocking: called before a read that may wait, so that
  ///   the caller can write out what is complete; never between the lines of
  ///   one read.
  /// - Throws: `Failure` of read(2), or what `beforeBlocking` throws.
  public mutating func next(beforeBlocking: () throws -> Void = {}) throws -> Line? {
    while true {
      if let newline = memchr(buffer.base + scanned, 10, end - scanned) {
        let stop = UnsafeRawPointer(newline) - UnsafeRawPointer(buffer.base)
        let line = UnsafeRawBufferPointer(start: buffer.base + start, count: stop - start)
        start = stop + 1
        scanned = start
        return Line(bytes: line, terminated: true)
      }
      scanned = end
      if atEnd {
        guard start < end else { return nil }
        let line = UnsafeRawBufferPointer(start: buffer.base + start, count: end - start)
        start = end
        return Line(bytes: line, terminated: false)
      }
      try fill(beforeBlocking: beforeBlocking)
    }
  }

  /// Passes over the complete lines that were read and do not hold what is
  /// looked for, up to the one that does.
  ///
  /// - Parameter find: where in these bytes it begins, nil if it is not there;
  ///   it holds no LF. Each byte is shown once, but those of a line found.
  /// - Returns: how many lines were passed over.
  public mutating func skipLines(until find: (UnsafeRawBufferPointer) -> Int?) -> Int {
    if completeTo != end || complete < start {
      let last = clibc_memrchr(buffer.base + start, 10, end - start)
      complete = last.map { $0 - UnsafeRawPointer(buffer.base) + 1 } ?? start
      completeTo = end
    }
    let lines = UnsafeRawBufferPointer(start: buffer.base + start, count: complete - start)
    guard let from = lines.baseAddress, !lines.isEmpty else { return 0 }
    var passed = lines.count
    if let position = find(lines) {
      passed = clibc_memrchr(from, 10, position).map { $0 - from + 1 } ?? 0
    }
    start += passed
    scanned = start
    return clibc_count_lines(from, passed)
  }

  private mutating func fill(beforeBlocking: () throws -> Void) throws {
    makeRoom()
    if !isFile && (lastReadWasShort || !isReadable(descriptor)) { try beforeBlocking() }
    let room = min(buffer.capacity - end, step)
    while true {
      let count = read(descriptor, buffer.base + end, room)
      if count < 0 {
        if systemError == EINTR { continue }
        if systemError == EAGAIN {
          isReadable(descriptor, within: -1)
          continue
        }
        throw Failure(code: systemError)
      }
      atEnd = count == 0
      lastReadWasShort = count < room
      if opening.count < 16 {
        opening += UnsafeRawBufferPointer(start: buffer.base + end, count: min(16, count))
      }
      if passesHoles, isHole(count) {
        passHole()
      } else {
        end += count
      }
      return
    }
  }

  /// Whether what was read goes on with NUL bytes where the last ones were NUL, too.
  private func isHole(_ count: Int) -> Bool {
    guard count >= 4096, end > start else { return false }
    let bytes = buffer.base + end - 1
    return bytes.load(as: UInt8.self) == 0 && memcmp(bytes, bytes + 1, count) == 0
  }

  /// Goes on behind a hole, as far as the system knows where it ends.
  private func passHole() {
    guard isFile else { return }
    let place = Int64(lseek(descriptor, 0, SEEK_CUR))
    let next = place < 0 ? place : clibc_next_data(descriptor, place)
    if next > place { lseek(descriptor, off_t(next), SEEK_SET) }
  }

  /// Moves an unfinished line to the front, on a page boundary again, and
  /// doubles the buffer when the line fills it: linear over the line.
  private mutating func makeRoom() {
    completeTo = -1
    let used = end - start
    if used == 0 {
      (start, scanned, end) = (0, 0, 0)
      return
    }
    if used * 2 > buffer.capacity {
      buffer.grow(to: buffer.capacity * 2, keeping: start, count: used)
    } else if start > 0 {
      memmove(buffer.base, buffer.base + start, used)
    }
    scanned -= start
    (start, end) = (0, used)
  }
}
