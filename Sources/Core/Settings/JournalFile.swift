import CLibc

/// A file of records that only grows: what was appended is on disk before the
/// call returns, and a crash in the middle leaves at most one torn line, which
/// readers pass over.
public struct JournalFile: Sendable {
  /// Where it is; its folder must exist.
  public let path: String

  /// - Parameter path: the file, which need not exist.
  public init(path: String) { self.path = path }

  /// Adds a record and brings it to disk.
  ///
  /// - Parameter record: one line without its line feed.
  /// - Throws: `Failure`; the record is then not certain to be there.
  public func append(_ record: [UInt8]) throws(Failure) {
    try append([record], isAlone: false)
  }

  /// Adds records, all of them or none, and brings them to disk.
  ///
  /// - Parameters:
  ///   - records: each one line without its line feed.
  ///   - isAlone: whether nobody else adds at this time: what could not be written whole is
  ///     then taken back.
  /// - Throws: `Failure`; the records are then not certain to be there.
  public func append(_ records: [[UInt8]], isAlone: Bool) throws(Failure) {
    let descriptor = try OwnPath.append(path)
    defer { close(descriptor) }
    guard let status = stat(of: descriptor) else { throw failure(systemError) }
    var last: UInt8 = 10
    if status.st_size > 0, pread(descriptor, &last, 1, status.st_size - 1) != 1 {
      throw failure(systemError)
    }
    // One write, so that two processes do not mix their lines.
    do throws(Failure) {
      let start: [UInt8] = last == 10 ? [] : [10]
      let code = writeAll(records.reduce(into: start) { $0 += $1 + [10] }, to: descriptor)
      guard code == 0 else { throw failure(code) }
      guard fsync(descriptor) == 0 else { throw failure(systemError) }
    } catch {
      if isAlone { _ = ftruncate(descriptor, status.st_size) }
      throw error
    }
    if status.st_size == 0 { StateFile.syncFolder(of: path) }
  }

  /// The records, oldest first; what is not a JSON object is left out.
  ///
  /// - Throws: `Failure` when the file is there and cannot be read.
  public func records() throws(Failure) -> [[UInt8]] {
    guard let bytes = try StateFile(path: path).read(limit: BoundedFile.largest) else { return [] }
    return bytes.split(separator: 10).map(Array.init).filter { line in
      line.first == UInt8(ascii: "{")
        && line.withUnsafeBytes { ScanValidator.firstFault($0) } == nil
    }
  }

  private func failure(_ code: Int32) -> Failure { Failure(path, systemReason(code)) }
}
