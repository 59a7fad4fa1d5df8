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
        let found = Self.tail(of: bytes)
        (lastEventID, newest) = (found.lastEventID, found.newest)
        return found.size
      }
    }
    try folder.begin()
  }

  /// The end of a day file as a crash may have left it: how many bytes are whole records, as what
  /// follows was cut; the stream's id at the last event, empty when it has none, nil without an
  /// event; and when the newest action was.
  static func tail(
    of bytes: UnsafeRawBufferPointer
  ) -> (size: Int, lastEventID: String?, newest: String?) {
    var finding: (size: Int, lastEventID: String?, newest: String?) = (bytes.count, nil, nil)
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
    guard ["action_event", "voice_event"].contains(ScanMembers.text(of: "event", in: line)),
      let data = try? ScanMembers.value(of: "data", in: line), data.isObject
    else { return nil }
    return ScanMembers.text(of: "createdAt", in: data.bytes)
      ?? ScanMembers.text(of: "created_at", in: data.bytes)
  }

  /// The id at an event; nil for a line that is none, and for missed actions that were asked
  /// for, which come from elsewhere.
  private static func eventID(_ line: UnsafeRawBufferPointer) -> String? {
    guard let event = ScanMembers.text(of: "event", in: line), event != "actions_backfill" else {
      return nil
    }
    return ScanMembers.text(of: "id", in: line)
  }
}
