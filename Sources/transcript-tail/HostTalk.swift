import CLibc
import Core

/// Takes the answers of `HostScript` apart, wherever the pieces that they come in end. Pure.
struct HostTalk {
  /// What is waited for.
  enum Question: Equatable {
    case greeting
    case look
    case piece(count: Int)
  }

  /// What came.
  enum Answer: Equatable {
    case greeting
    /// The transcripts that changed; nil when there is no such place. Then folders that may
    /// not be read.
    case files([SeenFile]?, denied: [String] = [])
    /// The bytes, and whose they are now.
    case piece([UInt8], number: UInt64, size: Int64, isBad: Bool)
    /// Something that the script does not say.
    case nonsense
  }

  private let greeting: [UInt8]
  private var question = Question.greeting
  private var bytes: [UInt8] = []
  /// Of `bytes`: how far the end was looked for.
  private var searched = 0

  /// Bytes that login files, or a list of transcripts, may have.
  private static let limit = 64 << 20

  init(nonce: String) { greeting = HostScript.greeting(nonce) }

  /// Whether the script has not begun.
  var awaitsGreeting: Bool { question == .greeting }

  /// The end of what came instead of the greeting.
  var greeted: [UInt8] { awaitsGreeting ? Array(bytes.suffix(200)) : [] }

  /// What the next answer is to be.
  mutating func expect(_ question: Question) { self.question = question }

  /// Takes what came.
  mutating func take(_ more: ArraySlice<UInt8>) -> Answer? {
    bytes += more
    switch question {
    case .greeting:
      if let place = find(greeting) {
        drop(place + greeting.count)
        return .greeting
      }
    case .look:
      // The end is a line of its own, and may be the first.
      let end = bytes.starts(with: [46, 10]) ? 0 : find([10, 46, 10]).map { $0 + 1 }
      if let end {
        let answer = Self.files(bytes[..<end])
        drop(end + 2)
        return answer
      }
    case .piece(let count):
      guard bytes.count > count else { return nil }
      searched = max(searched, count)
      guard let end = find([10]) else { return bytes.count > count + 200 ? .nonsense : nil }
      let words = Self.words(bytes[count..<end], 3)
      guard words.count == 3, let number = UInt64(words[0]), let size = Int64(words[1]) else {
        return .nonsense
      }
      let piece = Array(bytes[..<count])
      drop(end + 1)
      return .piece(piece, number: number, size: size, isBad: words[2] != "good")
    }
    return bytes.count > Self.limit ? .nonsense : nil
  }

  private mutating func drop(_ count: Int) {
    bytes.removeFirst(count)
    searched = 0
  }

  private mutating func find(_ text: [UInt8]) -> Int? {
    let start = searched
    let found = bytes.withUnsafeBytes { bytes -> Int? in
      guard let base = bytes.baseAddress, start < bytes.count else { return nil }
      return clibc_memmem(base + start, bytes.count - start, text, text.count).map { $0 - base }
    }
    if found == nil { searched = max(start, bytes.count - text.count + 1) }
    return found
  }

  /// What a list tells. What is not as it should be is left out.
  private static func files(_ lines: ArraySlice<UInt8>) -> Answer {
    var files: [SeenFile] = []
    var denied: [String] = []
    for line in lines.split(separator: 10) {
      if line.elementsEqual([UInt8(ascii: "?")]) { return .files(nil) }
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
    return .files(files, denied: denied)
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

  /// Seconds with or without a fraction.
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

  private static func words(_ line: ArraySlice<UInt8>, _ most: Int) -> [String] {
    line.split(separator: 32, maxSplits: most).map { String(decoding: $0, as: UTF8.self) }
  }
}
