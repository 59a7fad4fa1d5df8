import CLibc
public import Core

/// The lines of a file of records, as every command that reads records reads
/// them: as they are, or through the installed decompressor when the first bytes
/// say that the file is compressed.
///
/// A file that is not compressed costs one look at its first bytes; a pipe is not
/// looked at.
public struct RecordInput: ~Copyable {
  /// One line, valid until the next one is read.
  public struct Line {
    /// Its bytes without the LF, and without the byte order mark that some
    /// editors put in front of a file.
    public let bytes: UnsafeRawBufferPointer
    /// Its bytes as they were read, but for the LF.
    public let whole: UnsafeRawBufferPointer
    /// Counted from 1.
    public let number: Int
    /// False for a last line without LF.
    public let isTerminated: Bool

    @inlinable @inline(__always)
    public init(_ whole: UnsafeRawBufferPointer, number: Int, isTerminated: Bool, isFirst: Bool) {
      let hasMark = isFirst && whole.starts(with: [0xef, 0xbb, 0xbf])
      bytes = hasMark ? UnsafeRawBufferPointer(rebasing: whole[3...]) : whole
      (self.whole, self.number, self.isTerminated) = (whole, number, isTerminated)
    }

    /// The same line of a longer text.
    ///
    /// - Parameter before: how many lines stand before those that were counted.
    public func behind(_ before: Int) -> Line { Line(copying: self, number: number + before) }

    private init(copying line: Line, number: Int) {
      (bytes, whole, self.number, isTerminated) = (
        line.bytes, line.whole, number, line.isTerminated
      )
    }
  }

  /// What the user called it; `-` is standard input.
  public let path: String
  /// What is open under that name, and what the lines are read from: the same
  /// but for a compressed file.
  private let file: Int32
  private let source: Int32
  private let compression: Compression?
  private var child: ChildProcess?
  private var reader: LineReader
  private var number = 0
  private let content: Content
  private var joined = ByteBuffer()
  private var held = ByteBuffer()
  private var heldEnd: Bool?
  /// Whether it begins with a value over several lines, and so may have more.
  private var isPrinted = false

  /// What the lines of a file are.
  public enum Content: Sendable {
    /// Records: JSON that was printed over several lines is one line, holes are passed over, and
    /// what is no UTF-8 is not read.
    case records
    /// Records or other text, each on its line.
    case lines
    /// Anything, to be kept as it is.
    case bytes
  }

  /// The most that is put together to one line, bytes.
  private static let mostJoined = 256 << 20

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: a name, whatever it begins with; `-` alone is standard input.
  ///   - target: where records are written: reading that would not end.
  /// - Throws: `Failure` when it cannot be opened, is a folder or the target,
  ///   is compressed and there is no decompressor, or is no UTF-8.
  public init(
    path: String, writtenTo target: FileIdentity? = nil, _ content: Content = .records
  ) throws(Failure) {
    let file = path == "-" ? 0 : clibc_open(path, O_RDONLY)
    guard file >= 0 else { throw Failure(code: systemError) }
    let compression: Compression?
    let child: ChildProcess?
    do throws(Failure) {
      (compression, child) = try Self.look(at: file, target)
      // What a crash or a full disk leaves; an empty file of records is none.
      if compression == nil, content != .bytes,
        let reason = Self.start(of: file, 16).flatMap({ ForeignText.reason(of: $0) })
      {
        throw Failure(reason)
      }
      if compression == nil, FileVersion(file)?.size == 0, FileIdentity(descriptor: file) != nil,
        [".zst", ".gz"].contains(where: { path.hasSuffix($0) })
      {
        throw Failure("cut short or damaged: empty")
      }
    } catch {
      if file > 0 { close(file) }
      throw error
    }
    (self.path, self.file, self.compression, self.child) = (path, file, compression, child)
    self.content = content
    source = child?.output ?? file
    reader = LineReader(descriptor: source, passesHoles: content != .bytes)
  }

  /// The bytes that an open file goes on with; nil when it has no place to look at, as a pipe.
  private static func start(of file: Int32, _ count: Int) -> [UInt8]? {
    let place = lseek(file, 0, SEEK_CUR)
    guard place >= 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: count)
    let found = pread(file, &bytes, count, place)
    return found > 0 ? Array(bytes[..<found]) : nil
  }

  private static func look(
    at file: Int32, _ target: FileIdentity?
  ) throws(Failure) -> (Compression?, ChildProcess?) {
    if let target, FileIdentity(descriptor: file) == target {
      throw Failure("is read and written at once")
    }
    // A folder can be opened but not read.
    if CLibc.read(file, nil, 0) < 0, systemError == EISDIR { throw Failure(code: EISDIR) }
    guard let start = Self.start(of: file, Compression.magicSize),
      let found = start.withUnsafeBytes({ Compression(start: $0) })
    else { return (nil, nil) }
    return (found, try found.start(file))
  }

  deinit { if file > 0 { close(file) } }

  /// Whether it is a regular file.
  public var isFile: Bool { FileIdentity(descriptor: file) != nil }

  /// The part of an uncompressed regular file that was not read yet: what is open, where
  /// this part begins and where it ends. Nil for all that can be read only in order, as a file
  /// with holes and JSON over several lines.
  ///
  /// Asked before the first line is read.
  public var unread: (file: Int32, range: Range<Int64>)? {
    guard compression == nil, let size = FileVersion(file)?.size, isFile, !clibc_has_hole(file),
      let begin = Self.start(of: file, 256)
    else { return nil }
    let first = begin.starts(with: [0xef, 0xbb, 0xbf]) ? begin.dropFirst(3) : begin[...]
    if first.first == UInt8(ascii: "[") || Self.isOpening(first) { return nil }
    let start = Int64(lseek(file, 0, SEEK_CUR))
    return start >= 0 && start < size ? (file, start..<size) : nil
  }

  /// Goes on behind lines of `unread` that were read by other means.
  public mutating func goOn(at place: Int64, behind lines: Int) {
    lseek(file, off_t(place), SEEK_SET)
    number += lines
  }

  /// The next line, or nil at the end.
  ///
  /// - Parameter beforeBlocking: called before a read that may wait, with what is
  ///   read from, so that the caller can write out what is complete; never between
  ///   the lines of one read.
  /// - Throws: `Failure`, also of a decompressor that met a fault, or what
  ///   `beforeBlocking` throws.
  public mutating func next(
    beforeBlocking: (_ source: Int32) throws -> Void = { _ in }
  ) throws -> Line? {
    guard let line = try nextLine(beforeBlocking) else { return nil }
    if number > 1 && !isPrinted || content != .records || !Self.opens(line.bytes) { return line }
    isPrinted = true
    return try join(line, beforeBlocking)
  }

  private mutating func nextLine(
    _ beforeBlocking: (_ source: Int32) throws -> Void
  ) throws -> Line? {
    if let isTerminated = heldEnd {
      heldEnd = nil
      number += 1
      return Line(held.bytes, number: number, isTerminated: isTerminated, isFirst: false)
    }
    let source = source
    let line = try reader.next { try beforeBlocking(source) }
    if number == 0, content != .bytes, let reason = ForeignText.reason(of: reader.opening) {
      throw Failure(reason)
    }
    // Half a line at the end of a damaged file is told as that and not as a line.
    if line?.terminated != true { try finish() }
    guard let line else { return nil }
    number += 1
    return Line(
      line.bytes, number: number, isTerminated: line.terminated, isFirst: number == 1)
  }

  // MARK: - JSON over several lines

  /// Whether a line is what a printer of JSON begins a value over several lines with.
  private static func isOpening(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard let end = bytes.firstIndex(of: 10) else { return false }
    return bytes[..<end].withUnsafeBytes { opens($0) }
  }

  private static func opens(_ line: UnsafeRawBufferPointer) -> Bool {
    guard let first = line.first, let last = line.last(where: { !$0.isBlank }) else {
      return false
    }
    if first == UInt8(ascii: "{") { return line.dropFirst().allSatisfy(\.isBlank) }
    let ends: [UInt8] = [UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: ",")]
    guard first == UInt8(ascii: "["), ends.contains(last) else { return false }
    return ScanValidator.nesting(line).last > 0
  }

  /// Reads on to the end of a value. An object is cut off by what no printer writes in it.
  private mutating func join(
    _ first: Line, _ beforeBlocking: (_ source: Int32) throws -> Void
  ) throws -> Line {
    let begin = first.number
    let isList = first.bytes.first == UInt8(ascii: "[")
    // No string goes over the end of a line.
    var depth = ScanValidator.nesting(first.bytes).last
    joined.removeAll(keepingAtMost: 1 << 20)
    joined.append(first.bytes)
    var isTerminated = first.isTerminated
    while depth > 0, joined.count < Self.mostJoined, let line = try nextLine(beforeBlocking) {
      let bytes = line.bytes
      if !isList, Self.cuts(bytes, isSecond: line.number == begin + 1) {
        held.removeAll(keepingAtMost: 1 << 20)
        held.append(bytes)
        heldEnd = line.isTerminated
        number -= 1
        break
      }
      depth = ScanValidator.nesting(bytes, from: depth).last
      isTerminated = line.isTerminated
      joined.append(UnsafeRawBufferPointer(rebasing: bytes.trimming(\.isBlank)))
    }
    return Line(joined.bytes, number: begin, isTerminated: isTerminated, isFirst: false)
  }

  /// It begins with a brace in the first column, or is the second line without a key.
  private static func cuts(_ line: UnsafeRawBufferPointer, isSecond: Bool) -> Bool {
    if line.first == UInt8(ascii: "{") { return true }
    guard isSecond else { return false }
    let first = line.first { !$0.isBlank }
    return first != UInt8(ascii: "\"") && first != UInt8(ascii: "}")
  }

  /// Passes over the lines that were read and do not hold what is looked for, see
  /// `LineReader.skipLines`.
  public mutating func skipLines(until find: (UnsafeRawBufferPointer) -> Int?) {
    if !isPrinted { number += reader.skipLines(until: find) }
  }

  private mutating func finish() throws(Failure) {
    guard let child, let compression else { return }
    self.child = nil
    _ = child.waitForEnd()
    if child.exitStatus == 0 { return }
    let how =
      child.endSignal.map { "ended by signal \($0)" }
      ?? "status \(child.exitStatus ?? 0)"
    throw Failure("cut short or damaged: \(compression.rawValue): \(how)")
  }

  /// Reads files one after the other; one that cannot be read does not keep the
  /// others from being read.
  ///
  /// - Parameters:
  ///   - target: where records are written.
  ///   - isDone: asked before each; true leaves the others unread.
  ///   - fault: told a file that cannot be read, or not to its end, and why.
  public static func each(
    _ paths: [String], writtenTo target: FileIdentity?, _ content: Content = .records,
    until isDone: () -> Bool,
    fault: (_ path: String, _ reason: String) throws -> Void,
    lines: (inout RecordInput) throws -> Void
  ) throws {
    for path in paths where !isDone() {
      do {
        var input = try RecordInput(path: path, writtenTo: target, content)
        try lines(&input)
      } catch let failure as Failure {
        try fault(path, failure.reason)
      }
    }
  }
}

/// How a file is compressed, by its first bytes.
public enum Compression: String, Sendable, CaseIterable {
  /// RFC 8878.
  case zstd
  /// RFC 1952.
  case gzip

  /// How many bytes decide.
  public static let magicSize = 4

  /// - Parameter start: the first bytes of a file, `magicSize` of them or all.
  /// - Returns: nil for a file that is not compressed.
  public init?(start: UnsafeRawBufferPointer) {
    // No line of JSON begins so. A skippable frame, one of 16, may stand in front: pzstd(1)'s do.
    if ForeignText.isOfZstd(start) {
      self = .zstd
    } else if start.starts(with: [0x1f, 0x8b]) {
      self = .gzip
    } else {
      return nil
    }
  }

  fileprivate func start(_ file: Int32) throws(Failure) -> ChildProcess {
    do throws(Failure) {
      // What it says of a damaged file is said by us, in one line with the name.
      return try ChildProcess(
        [rawValue, "-dcq"], input: .given(file), output: .pipe, error: .nothing)
    } catch {
      let isMissing = error.code == ENOENT
      throw Failure(
        "compressed with \(rawValue), which "
          + (isMissing ? "is not installed" : "cannot be started: \(systemReason(error.code))"))
    }
  }
}
