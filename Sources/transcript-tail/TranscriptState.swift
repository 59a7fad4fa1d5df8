import Core
import Records

/// The file of `--state`: how far each transcript was printed. Written behind the output,
/// never ahead of it.
struct TranscriptState {
  let marks: [FileMark]?
  private let file: StateFile
  private let source: String
  private var saved: [FileMark]
  private var next = -Double.infinity

  init(path: String, source: String) throws(Failure) {
    file = StateFile(path: path)
    self.source = source
    guard let bytes = try file.read(limit: BoundedFile.largest), !bytes.isEmpty else {
      marks = nil
      saved = []
      return
    }
    guard let (found, list) = Self.parse(bytes) else {
      throw Failure(path, "not a state file of transcript-tail")
    }
    guard found == source else {
      throw Failure(path, "holds the state of \(found), not of \(source)")
    }
    marks = list
    saved = list
  }

  var isDue: Bool { Clock.monotonic >= next }

  /// Saves so often that it takes a tenth of the time at most; when to be called again.
  mutating func save(
    _ progress: @autoclosure () -> [FileMark], isLast: Bool = false
  ) throws(Failure) -> Double {
    let now = Clock.monotonic
    let progress = progress()
    if progress == saved {
      next = max(next, now + max(0.05, 9 * (Clock.monotonic - now)))
      return .infinity
    }
    if !isLast, now < next { return next }
    try file.replace(with: Self.record(source, progress))
    saved = progress
    let end = Clock.monotonic
    next = end + min(1, 9 * (end - now))
    return .infinity
  }

  static func record(_ source: String, _ marks: [FileMark]) -> [UInt8] {
    let files = marks.map { mark in
      RecordText().string("path", mark.path).string("file", String(mark.number))
        .number("born", mark.born == 0 ? nil : mark.born).number("line", mark.line?.begin)
        .string("digest", mark.line.map { String($0.digest, radix: 16) })
        .bool("skipped", mark.isSkipped ? true : nil).string("first", mark.first)
        .number("offset", mark.offset)
    }
    return RecordText(.transcriptState).string("source", source).objects("files", files).line
  }

  /// Nil when it is not a state file.
  static func parse(_ bytes: [UInt8]) -> (source: String, marks: [FileMark])? {
    guard let value = bytes.withUnsafeBytes({ try? JSONValue.parse($0) }),
      value["type"]?.string == RecordType.transcriptState.rawValue,
      let source = value["source"]?.string, let files = value["files"]
    else { return nil }
    var marks: [FileMark] = []
    for file in files.elements {
      guard let path = file["path"]?.string,
        let number = file["file"]?.string.flatMap({ UInt64($0) }),
        let offset = file["offset"]?.integer, offset >= 0
      else { return nil }
      let born = file["born"]?.integer ?? 0
      var mark = FileMark(path: path, number: number, born: born, offset: offset)
      if let begin = file["line"]?.integer, begin >= 0, begin < offset,
        let digest = file["digest"]?.string.flatMap({ UInt64($0, radix: 16) })
      {
        mark.line = LineMark(begin: begin, digest: digest)
      }
      mark.isSkipped = file["skipped"]?.bool == true
      mark.first = file["first"]?.string
      marks.append(mark)
    }
    return (source, marks)
  }
}
