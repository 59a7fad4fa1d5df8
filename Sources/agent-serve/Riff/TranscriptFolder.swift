import CLibc
import Core
import Prose
import Records

/// The transcripts of a coding agent, `FOLDER/SLUG/SESSION.jsonl`, and the turn that ended last.
actor TranscriptFolder {
  /// More files than any agent has; then all is read anew.
  private static let mostFiles = 20_000
  private static let suffix = ".jsonl"

  private let path: String
  private var files: [String: TranscriptFile] = [:]

  init(_ path: String) { self.path = path }

  /// Whether a name may be one of its folders: it leads nowhere else.
  static func isSlug(_ name: String) -> Bool { isPlainWord(name, atMost: 255) }

  /// The turn that ended last.
  func latest(slug: String?, after: Int) -> FinishedTurn? {
    if files.count > Self.mostFiles { files = [:] }
    let slugs = slug.map { [$0] } ?? names(in: path).filter { !$0.hasPrefix(".") }
    var found: FinishedTurn?
    let candidates = slugs.flatMap { list("\(path)/\($0)") }.sorted { $0.modified > $1.modified }
    for file in candidates {
      // A line was written when it had been said; clocks of file systems are coarse.
      if file.modified + 1000 < max(after, found?.time ?? .min) { break }
      files[file.path, default: TranscriptFile()].look(file.path)
      guard let turn = files[file.path]?.latest, turn.time > after else { continue }
      if turn.time > found?.time ?? .min { found = turn }
    }
    return found
  }

  /// A folder that cannot be read has none.
  private func names(in folder: String) -> [String] { (try? FolderFile.names(in: folder)) ?? [] }

  /// The transcripts of a folder, which is no link, with the time of the last change.
  private func list(_ folder: String) -> [(path: String, modified: Int)] {
    var status = stat()
    // S_IFMT is declared twice here.
    guard lstat(folder, &status) == 0, status.st_mode & 0o170000 == 0o040000 else { return [] }
    return names(in: folder).filter { $0.hasSuffix(Self.suffix) }.compactMap { name in
      let path = "\(folder)/\(name)"
      var status = stat()
      guard lstat(path, &status) == 0 else { return nil }
      return (path, Int(FileVersion(status).modified / 1_000_000))
    }
  }
}

struct TranscriptFile {
  /// Bytes at a time; a turn that ended before as much of other lines is not news.
  static let window = 16 << 20
  private static let firstWindow = 256 << 10

  private(set) var latest: FinishedTurn?
  private var identity: FileIdentity?
  private var version: FileVersion?
  private var end = 0

  mutating func look(_ path: String) {
    let descriptor = clibc_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return forget() }
    defer { close(descriptor) }
    guard let identity = FileIdentity(descriptor: descriptor),
      let version = FileVersion(descriptor)
    else { return forget() }
    let size = Int(version.size)
    if identity != self.identity || size < end { forget() }
    guard version != self.version else { return }
    (self.identity, self.version) = (identity, version)
    if end > 0, size - end <= Self.window {
      if let turn = read(descriptor, from: end, to: size) { latest = turn }
      return
    }
    // From the end backwards, as far as need be.
    var width = Self.firstWindow
    while true {
      let start = max(0, size - width)
      end = start
      latest = read(descriptor, from: start, to: size)
      if latest != nil || start == 0 || width >= Self.window { return }
      width *= 4
    }
  }

  private mutating func forget() { self = TranscriptFile() }

  private mutating func read(_ descriptor: Int32, from start: Int, to size: Int) -> FinishedTurn? {
    let wanted = size - start
    let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
      while count < wanted {
        let place = buffer.baseAddress.map { $0 + count }
        let got = pread(descriptor, place, wanted - count, off_t(start + count))
        if got <= 0 { break }
        count += got
      }
    }
    let (turn, whole) = bytes.withUnsafeBytes { FinishedTurn.last(in: $0) }
    end = start + whole
    // Or it would be the last one until its time has come.
    return turn?.asWritten(Int((version?.modified ?? 0) / 1_000_000))
  }
}

/// A turn of a coding agent that is over, as its transcript tells (Agent/Claude/CONTRACT.md 3).
struct FinishedTurn: Equatable, Sendable {
  /// When it ended, milliseconds since 1970.
  private(set) var time: Int
  /// What can be read aloud of it; never empty.
  let prose: String

  private static let mark = Array("\"end_turn\"".utf8)

  /// Nil for one that ends no turn, or of which nothing can be said.
  init?(line: UnsafeRawBufferPointer) {
    // Most lines are something else, and some are long.
    guard clibc_memmem(line.baseAddress, line.count, Self.mark, Self.mark.count) != nil,
      let entry = try? JSONValue.parse(line), entry["type"]?.string == "assistant",
      entry["isSidechain"]?.bool != true, entry["isApiErrorMessage"]?.bool != true,
      let message = entry["message"], message["stop_reason"]?.string == "end_turn",
      let stamp = entry["timestamp"]?.string, let time = Timestamp(rfc3339: stamp)
    else { return nil }
    let texts =
      message["content"]?.string.map { [$0] }
      ?? (message["content"]?.elements ?? []).filter { $0["type"]?.string == "text" }
      .compactMap { $0["text"]?.string }
    prose = Prose.of(texts.joined(separator: "\n\n"))
    if prose.isEmpty { return nil }
    self.time = time.milliseconds
  }

  /// The same, for one that claims to have ended after its file was written: by a clock that is
  /// wrong by more than a minute.
  func asWritten(_ written: Int) -> FinishedTurn {
    var turn = self
    if time > written + 60_000 { turn.time = written }
    return turn
  }

  private static func last(ofTorn line: UnsafeRawBufferPointer) -> FinishedTurn? {
    guard clibc_memmem(line.baseAddress, line.count, mark, mark.count) != nil else { return nil }
    return TornLine(line)?.records.reversed().lazy.compactMap { FinishedTurn(line: $0) }.first
  }

  /// The last turn in a part of a transcript.
  static func last(in bytes: UnsafeRawBufferPointer) -> (turn: FinishedTurn?, end: Int) {
    guard let base = bytes.baseAddress else { return (nil, 0) }
    func lineFeed(before end: Int) -> Int? {
      clibc_memrchr(base, 10, end).map { $0 - base }
    }
    guard var end = lineFeed(before: bytes.count) else { return (nil, 0) }
    let whole = end + 1
    while true {
      let start = lineFeed(before: end).map { $0 + 1 } ?? 0
      let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
      if let turn = FinishedTurn(line: line) ?? last(ofTorn: line) { return (turn, whole) }
      if start == 0 { return (nil, whole) }
      end = start - 1
    }
  }
}
