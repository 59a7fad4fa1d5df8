import Core
import Shell

/// Takes the answers of `HostScript` apart, wherever the pieces that they come in end. Pure.
struct HostTalk {
  /// Whether the script has begun.
  private(set) var hasBegun = false
  private let greeting: [UInt8]
  private var bytes: [UInt8] = []
  /// Of `bytes`: how far the end was looked for.
  private var searched = 0

  /// Bytes that login files, or a list of transcripts, may have.
  private static let limit = 64 << 20
  private static let nonsense = HostFailure.unfit(why: "the host's answer makes no sense")

  init(nonce: String) { greeting = HostScript.greeting(nonce) }

  /// The end of what came instead of the greeting.
  var greeted: [UInt8] { Array(bytes.suffix(200)) }

  mutating func append(_ more: ArraySlice<UInt8>) throws(HostFailure) {
    if bytes.count > Self.limit { throw Self.nonsense }
    bytes += more
  }

  /// Takes the greeting; nil until it has come, as of the other answers.
  mutating func begin() -> Bool? {
    guard let place = find(greeting) else { return nil }
    drop(place + greeting.count)
    hasBegun = true
    return true
  }

  /// Takes a list of transcripts: those that changed, nil when there is no such place; and the
  /// folders that may not be read.
  mutating func files() -> (files: [SeenFile]?, denied: [String])? {
    // The end is a line of its own, and may be the first.
    let end = bytes.starts(with: [46, 10]) ? 0 : find([10, 46, 10]).map { $0 + 1 }
    guard let end else { return nil }
    defer { drop(end + 2) }
    return Self.files(bytes[..<end])
  }

  /// Takes so many bytes of a transcript, and whose they are now.
  mutating func piece(
    _ count: Int
  ) throws(HostFailure) -> (bytes: [UInt8], number: UInt64, size: Int64, isBad: Bool)? {
    guard bytes.count > count else { return nil }
    searched = max(searched, count)
    guard let end = find([10]) else {
      if bytes.count > count + 200 { throw Self.nonsense }
      return nil
    }
    let words = bytes[count..<end].split(separator: 32, maxSplits: 3).map { Self.text($0) }
    guard words.count == 3, let number = UInt64(words[0]), let size = Int64(words[1]) else {
      throw Self.nonsense
    }
    defer { drop(end + 1) }
    return (Array(bytes[..<count]), number, size, words[2] != "good")
  }

  private mutating func drop(_ count: Int) {
    bytes.removeFirst(count)
    searched = 0
  }

  private mutating func find(_ text: [UInt8]) -> Int? {
    let found = bytes.place(of: text, from: searched)
    if found == nil { searched = max(searched, bytes.count - text.count + 1) }
    return found
  }

  /// What a list tells. What is not as it should be is left out.
  private static func files(_ lines: ArraySlice<UInt8>) -> (files: [SeenFile]?, denied: [String]) {
    var files: [SeenFile] = []
    var denied: [String] = []
    for line in lines.split(separator: 10) {
      if line.elementsEqual([UInt8(ascii: "?")]) { return (nil, []) }
      if line.first == UInt8(ascii: "!") {
        if let path = refused(line) { denied.append(path) }
        continue
      }
      let fields = line.split(separator: 32, maxSplits: 4, omittingEmptySubsequences: false)
      guard fields.count == 5, fields[4].first == UInt8(ascii: "/"),
        let number = UInt64(text(fields[0])), let size = Int64(text(fields[1])), size >= 0,
        let time = nanoseconds(text(fields[2]))
      else { continue }
      // Some systems do not know when a file was made, and say so in many ways.
      let born = max(0, nanoseconds(text(fields[3])) ?? 0)
      let path = FileName.text(Array(fields[4]))
      files.append(SeenFile(path: path, number: number, born: born, size: size, modified: time))
    }
    return (files, denied)
  }

  /// The folder of which find(1) says that it may not be read; some quote it.
  private static func refused(_ line: ArraySlice<UInt8>) -> String? {
    let (start, end) = (Array("! find: ".utf8), Array(": Permission denied".utf8))
    guard line.starts(with: start), line.count > start.count + end.count,
      line.suffix(end.count).elementsEqual(end)
    else { return nil }
    let name = line.dropFirst(start.count).dropLast(end.count)
    let quote = UInt8(ascii: "'")
    let isQuoted = name.count > 2 && name.first == quote && name.last == quote
    return FileName.text(Array(isQuoted ? name.dropFirst().dropLast() : name))
  }

  private static func nanoseconds(_ seconds: String) -> Int64? {
    let parts = seconds.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let whole = Int64(parts[0]), abs(whole) < 1 << 33 else { return nil }
    guard parts.count > 1 else { return whole * 1_000_000_000 }
    let digits = String((parts[1] + "000000000").prefix(9))
    return UInt32(digits).map { whole * 1_000_000_000 + Int64($0) }
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self)
  }
}
