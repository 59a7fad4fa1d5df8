import Bus
import CLibc
import Core

/// Standard output, or the day's file of an archive, which is never waited for: a reader that stands still must not keep us from
/// the server's questions.
struct GetOutput: ~Copyable {
  private var queue = ByteQueue()
  private var ends: [(end: Int, record: GetRecord)] = []
  /// How many bytes were written, and where the last whole line of them ended.
  private(set) var written = 0
  private var lastEnd = 0
  private var filled = 0
  private let isFile: Bool
  private let isTerminal: Bool
  private let archive: DayFolder?
  private let options: GetOptions

  /// What is put into the queue at once, bytes; a line may be longer.
  private static let enough = 64 << 10

  init(_ options: GetOptions, _ archive: DayFolder?) {
    (self.options, self.archive) = (options, archive)
    isFile = archive != nil || FileIdentity(descriptor: 1) != nil
    isTerminal = archive == nil && isatty(1) == 1
  }

  var isEmpty: Bool { queue.isEmpty }

  var hasRoom: Bool { queue.count < Self.enough }

  var isInsideLine: Bool { !ends.isEmpty && written > lastEnd }

  var records: [GetRecord] { ends.map(\.record) }

  /// Puts a record in.
  mutating func add(_ record: GetRecord, isRecord: Bool, isPrinted: Bool = true) {
    let before = queue.count
    if isPrinted {
      record.add(
        to: &queue, isWrapped: options.isWrapped, isRecord: isRecord, isShown: isTerminal)
    }
    filled += queue.count - before
    ends.append((filled, record))
  }

  /// Takes a record for the one with its number. Returns whether there is one.
  mutating func exchange(_ record: GetRecord) -> Bool {
    let index = ends.firstIndex { $0.record.place.sequence == record.place.sequence }
    guard let index else { return false }
    ends[index].record = record
    return true
  }

  mutating func takeBack() -> [GetRecord] {
    let kept = isInsideLine ? 1 : 0
    let back = ends.dropFirst(kept).map(\.record)
    let end = kept == 1 ? ends[0].end : written
    let rest = queue.prefix(end - written)
    queue.removeAll()
    queue.append(rest)
    filled = end
    ends = Array(ends.prefix(kept))
    return back
  }

  /// Writes what goes without waiting. Returns the records whose lines are written whole now, with
  /// the bytes of these.
  mutating func write() throws(WriteFailure) -> [(record: GetRecord, bytes: Int)] {
    try write(to: filled)
  }

  mutating func writeLine() throws(WriteFailure) -> [(record: GetRecord, bytes: Int)] {
    try write(to: ends.first?.end ?? written)
  }

  private mutating func write(
    to limit: Int
  ) throws(WriteFailure) -> [(record: GetRecord, bytes: Int)] {
    if written < limit {
      let descriptor = try archive?.open() ?? 1
      written += try queue.write(to: descriptor, isFile: isFile, atMost: limit - written)
    }
    let done = ends.prefix { $0.end <= written }
    ends.removeFirst(done.count)
    return done.map { end, record in
      defer { lastEnd = end }
      return (record, end - lastEnd)
    }
  }
}
