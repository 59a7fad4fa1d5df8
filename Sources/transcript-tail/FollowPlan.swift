import Core
import Turns

/// A file as it was found.
struct SeenFile: Equatable {
  /// As it can be opened.
  var path: String
  /// Of the file system: tells whether another file has taken the name.
  var number: UInt64
  /// Bytes.
  var size: Int64
  /// When it was written to last; any unit.
  var modified: Int64
}

/// How far a file was read.
struct FileMark: Equatable {
  var path: String
  var number: UInt64
  /// Lines that begin before it were printed, or are not wanted.
  var offset: Int64
}

/// Which files are followed and what is to be read of them next. Pure: whoever drives it
/// looks at the place and reads.
struct FollowPlan {
  /// What is to be read.
  struct Piece: Equatable {
    var path: String
    var number: UInt64
    var offset: Int64
    var count: Int
  }

  /// What became of a file that does not only grow.
  struct Loss: Equatable {
    var path: String
    /// For people: `truncated`, `replaced`.
    var reason: String
    /// What had been read of it, bytes.
    var offset: Int64
  }

  /// Which lines are wanted at the first look.
  struct Wishes {
    /// Of all sessions, not only of the newest.
    var all = false
    /// Of none: only what is added later.
    var new = false
    /// The longest line, bytes.
    var limit = 256 << 20
  }

  private let wishes: Wishes
  private var marks: [String: FileMark]?
  private var files: [String: FollowedFile] = [:]
  /// Files with something unread, the next one last.
  private var unread: [FollowedFile] = []
  private var isFirst = true
  /// Files that had something unread, the latest first: at these somebody is at work.
  private(set) var recent: [String] = []
  private static let mostRecent = 8

  /// - Parameter marks: how far an earlier run came; nil when there was none.
  init(_ wishes: Wishes, resuming marks: [FileMark]? = nil) {
    self.wishes = wishes
    self.marks = marks.map { marks in
      Dictionary(marks.map { ($0.path, $0) }, uniquingKeysWith: { $1 })
    }
  }

  /// Takes what a look at the place found: the first time all files, later at least those
  /// that changed.
  ///
  /// - Returns: what was lost.
  mutating func look(_ seen: [SeenFile]) -> [Loss] {
    var losses: [Loss] = []
    let newest = isFirst && marks == nil && !wishes.all ? Self.newest(of: seen) : nil
    for file in seen {
      guard let known = files[file.path] else {
        files[file.path] = begin(file, isNewest: file.path == newest, &losses)
        continue
      }
      known.size = file.size
      known.modified = file.modified
      if let loss = known.loss(file) {
        losses.append(loss)
        files[file.path] = FollowedFile(file, offset: 0, limit: wishes.limit)
      }
    }
    isFirst = false
    marks = nil
    unread = files.values.filter(\.isBehind)
    // The newest last, so that a reader ends with what happened last.
    unread.sort { ($0.modified, $0.path) > ($1.modified, $1.path) }
    if !unread.isEmpty {
      let grown = unread.prefix(Self.mostRecent).map(\.path)
      recent = Array((grown + recent.filter { !grown.contains($0) }).prefix(Self.mostRecent))
    }
    return losses
  }

  /// Whether there is anything to follow.
  var isEmpty: Bool { files.isEmpty }

  /// What to read next; nil when there is nothing before the next look.
  ///
  /// - Parameter most: bytes.
  mutating func next(atMost most: Int) -> Piece? {
    while let file = unread.last {
      if file.isBehind {
        let count = min(Int64(most), file.size - file.cutter.position)
        return Piece(
          path: file.path, number: file.number, offset: file.cutter.position, count: Int(count))
      }
      unread.removeLast()
    }
    return nil
  }

  /// Takes what was read, from the beginning of the piece that `next` returned.
  mutating func take(
    _ bytes: UnsafeRawBufferPointer,
    line: (LineCutter.Line, FollowedFile, _ begin: Int64, _ end: Int64) throws(WriteFailure) -> Void
  ) throws(WriteFailure) {
    guard let file = unread.last else { return }
    try file.cutter.take(bytes) { what, begin, end throws(WriteFailure) in
      try line(what, file, begin, end)
    }
    if bytes.isEmpty { pass() }
  }

  /// Nothing can be read of the piece: its file is looked at again first.
  mutating func pass() {
    if !unread.isEmpty { unread.removeLast() }
  }

  /// How far all files were read, by name.
  var progress: [FileMark] {
    files.values.map { FileMark(path: $0.path, number: $0.number, offset: $0.cutter.offset) }
      .sorted { $0.path < $1.path }
  }

  private func begin(
    _ file: SeenFile, isNewest: Bool, _ losses: inout [Loss]
  ) -> FollowedFile {
    let limit = wishes.limit
    if let mark = marks?[file.path] {
      let known = FollowedFile(
        SeenFile(path: mark.path, number: mark.number, size: file.size, modified: file.modified),
        offset: mark.offset, limit: limit)
      guard let loss = known.loss(file) else { return known }
      losses.append(loss)
      return FollowedFile(file, offset: 0, limit: limit)
    }
    let isWanted = !isFirst || marks != nil || (!wishes.new && (wishes.all || isNewest))
    return FollowedFile(file, offset: isWanted ? 0 : file.size, limit: limit)
  }

  /// The session that was written last; what subagents did belongs to another.
  private static func newest(of seen: [SeenFile]) -> String? {
    let sessions = seen.filter { !ClaudeTranscripts.isOfSubagent($0.path) }
    return (sessions.isEmpty ? seen : sessions)
      .max { ($0.modified, $0.path) < ($1.modified, $1.path) }?.path
  }
}

/// A file that is followed.
final class FollowedFile {
  let path: String
  /// See `ClaudeTranscripts.session`.
  let session: String
  let number: UInt64
  var size: Int64
  var modified: Int64
  var cutter: LineCutter

  init(_ file: SeenFile, offset: Int64, limit: Int) {
    path = file.path
    session = ClaudeTranscripts.session(of: file.path)
    number = file.number
    size = file.size
    modified = file.modified
    cutter = LineCutter(offset: offset, limit: limit)
  }

  var isBehind: Bool { cutter.isBehind(size) }

  /// What is wrong when the name stands for this file now; nil when it only grew.
  func loss(_ now: SeenFile) -> FollowPlan.Loss? {
    let reached = max(cutter.offset, cutter.position)
    let reason = now.number != number ? "replaced" : now.size < reached ? "truncated" : nil
    return reason.map { .init(path: path, reason: $0, offset: cutter.offset) }
  }
}
