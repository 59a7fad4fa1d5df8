import CLibc
import Core
import Prose
import Records

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
