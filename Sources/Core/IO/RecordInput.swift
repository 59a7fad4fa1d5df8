import CLibc

/// A file of records as commands read it: as it is, or through the installed
/// decompressor when its first bytes say that it is compressed.
///
/// A file that is not compressed costs one look at its first bytes; a pipe is not
/// looked at.
public struct RecordInput: ~Copyable {
  private let file: Int32
  private var compression: Compression?
  private var child: ChildProcess?

  /// Opens a file.
  ///
  /// - Parameter path: a name, whatever it begins with; `-` alone is standard input.
  /// - Throws: `ReadFailure` when it cannot be opened.
  public init(path: String) throws(ReadFailure) {
    file = path == "-" ? 0 : clibc_open(path, O_RDONLY)
    guard file >= 0 else { throw ReadFailure(code: systemError) }
  }

  deinit { if file > 0 { close(file) } }

  /// Whether it is a regular file.
  public var isFile: Bool { FileIdentity(descriptor: file) != nil }

  /// Whether it is this file.
  public borrowing func isSame(as other: FileIdentity?) -> Bool {
    guard let other else { return false }
    return FileIdentity(descriptor: file) == other
  }

  /// Looks how the file is compressed, and starts the decompressor.
  ///
  /// - Returns: what the lines are read from; it is closed with this value.
  /// - Throws: `ReadFailure` when there is no decompressor.
  public mutating func open() throws(ReadFailure) -> Int32 {
    let start = lseek(file, 0, SEEK_CUR)
    guard start >= 0, let found = Self.look(file, start) else { return file }
    compression = found
    do throws(ChildProcess.Failure) {
      // What it says of a damaged file is said by us, in one line with the name.
      let child = try ChildProcess(
        found.words, input: .given(file), output: .pipe, error: .nothing)
      self.child = child
      return child.output
    } catch {
      let isMissing = error.code == ENOENT
      throw ReadFailure(
        reason: "compressed with \(found.rawValue), which "
          + (isMissing ? "is not installed" : "cannot be started: \(systemReason(error.code))"))
    }
  }

  /// At the end of what is read: whether that is all that the file holds. To be
  /// asked before a last line without a line feed is believed, too.
  ///
  /// - Throws: `ReadFailure` when the decompressor met a fault.
  public mutating func finish() throws(ReadFailure) {
    guard let child, let compression else { return }
    self.child = nil
    _ = child.waitForEnd()
    if child.exitStatus == 0 { return }
    let how =
      child.endSignal.map { "ended by signal \($0)" }
      ?? "status \(child.exitStatus ?? 0)"
    throw ReadFailure(reason: "cut short or damaged: \(compression.rawValue): \(how)")
  }

  private static func look(_ file: Int32, _ start: off_t) -> Compression? {
    withUnsafeTemporaryAllocation(byteCount: Compression.magicSize, alignment: 1) { bytes in
      let count = pread(file, bytes.baseAddress, bytes.count, start)
      guard count > 0 else { return nil }
      return Compression(start: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    }
  }
}
