import CLibc
import Core

/// The folder of `--archive`, mended.
///
/// The records themselves say where a later run is to go on: half a record that a
/// crash left is cut off, and the id of the last whole one is the resume point.
struct Archive {
  let folder: DayFolder
  /// The id of the last event in the files that are not compressed.
  private(set) var lastEventID: String?
  private(set) var newest: String?

  init(_ path: String, now: Timestamp) throws(Failure) {
    folder = try DayFolder(path, now: now)
    // Behind a compressed file the state alone knows: it was saved before.
    for file in folder.plain.reversed() where lastEventID == nil {
      if let compressed = folder.compressed, file < compressed { break }
      try folder.mend(file) { bytes in
        let found = ArchiveTail.read(bytes)
        (lastEventID, newest) = (found.lastEventID, found.newest)
        return found.size
      }
    }
    try folder.begin()
  }
}

/// The end of a day file as a crash may have left it.
enum ArchiveTail {
  struct Finding: Equatable {
    /// How many bytes are whole records; what follows was cut by a crash.
    var size: Int
    /// The stream's id at the last event, empty when it has none; nil without an event.
    var lastEventID: String?
    var newest: String?
  }

  /// Looks at a file from its end.
  static func read(_ bytes: UnsafeRawBufferPointer) -> Finding {
    var finding = Finding(size: bytes.count)
    // Half a line, and what the disk had not yet got when the power went: zeros.
    while let line = lastLine(bytes, to: finding.size) {
      if line.isWhole && !holdsZero(line.bytes) { break }
      finding.size = line.start
    }
    var end = finding.size
    while let line = lastLine(bytes, to: end) {
      if let id = eventID(line.bytes) {
        guard finding.lastEventID ?? id == id else { break }
        finding.lastEventID = id
        // What is no action has the id of the one before.
        finding.newest = actionTime(line.bytes)
        if id.isEmpty || finding.newest != nil { break }
      }
      end = line.start
    }
    return finding
  }

  private static func lastLine(
    _ bytes: UnsafeRawBufferPointer, to end: Int
  ) -> (bytes: UnsafeRawBufferPointer, start: Int, isWhole: Bool)? {
    guard end > 0, let base = bytes.baseAddress else { return nil }
    let isWhole = bytes[end - 1] == 10
    let stop = isWhole ? end - 1 : end
    let start = clibc_memrchr(base, 10, stop).map { $0 - base + 1 } ?? 0
    return (UnsafeRawBufferPointer(rebasing: bytes[start..<stop]), start, isWhole)
  }

  private static func holdsZero(_ line: UnsafeRawBufferPointer) -> Bool {
    line.baseAddress.map { memchr($0, 0, line.count) != nil } ?? false
  }

  private static func actionTime(_ line: UnsafeRawBufferPointer) -> String? {
    guard let event = try? ScanMembers.value(of: "event", in: line).string,
      ["action_event", "voice_event"].contains(event),
      let data = try? ScanMembers.value(of: "data", in: line), data.isObject
    else { return nil }
    for name in ["createdAt", "created_at"] {
      let time = try? ScanMembers.value(of: name, in: data.bytes)
      if let time, time.isString { return time.string }
    }
    return nil
  }

  /// The id at an event; nil for a line that is none, and for missed actions that were asked
  /// for, which come from elsewhere.
  private static func eventID(_ line: UnsafeRawBufferPointer) -> String? {
    guard let id = try? ScanMembers.value(of: "id", in: line), id.isString,
      let event = try? ScanMembers.value(of: "event", in: line), event.isString
    else { return nil }
    if event.string == "actions_backfill" { return nil }
    return id.string
  }
}
