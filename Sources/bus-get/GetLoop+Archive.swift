import Bus
import Core

/// What an archive asks of bus-get: a file for each day, and the place saved before anything is
/// written behind it or anybody is told of a file.
extension GetLoop {
  /// Begins where the last run ended.
  func begin(now: Double) throws {
    guard let archive else {
      _ = try state?.save(now: now, force: true)
      return
    }
    try archive.begin()
    try state?.beginFile(now: now)
    try tellFinished(archive)
  }

  /// Tells the names of the files that are written to no more; what is told of may be compressed.
  private func tellFinished(_ archive: DayFolder) throws(WriteFailure) {
    let writer = RecordWriter()
    for name in archive.takeFinished() { try writer.write(name + "\n") }
    try writer.flush()
  }

  /// Goes on with the file of a new day.
  func turnDay(_ archive: DayFolder, now: Double) throws {
    let time = Timestamp.now()
    // A file takes all at once: no line is begun.
    guard archive.isOver(time) else { return }
    _ = try state?.save(now: now, force: true)
    do throws(WriteFailure) { try archive.turn(time) } catch { throw archive.failure(error) }
    try state?.beginFile(now: now)
    try tellFinished(archive)
  }

  /// Writes what goes without waiting.
  func write() throws {
    do throws(WriteFailure) {
      for (record, bytes) in try output.write() { wrote(record, bytes: bytes) }
    } catch {
      if let archive { throw archive.failure(error) }
      throw error
    }
  }
}
