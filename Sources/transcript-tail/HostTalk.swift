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
    /// The transcripts that changed; nil when there is no such place.
    case files([SeenFile]?)
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

  /// What the next answer is to be.
  mutating func expect(_ question: Question) { self.question = question }

  /// Takes what came.
  ///
  /// - Returns: the answer, once it is whole.
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
        let files = Self.files(bytes[..<end])
        drop(end + 2)
        return .files(files)
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

  /// What a list tells; nil when it says that there is no such place. What is not as it
  /// should be is left out.
  private static func files(_ lines: ArraySlice<UInt8>) -> [SeenFile]? {
    var files: [SeenFile] = []
    for line in lines.split(separator: 10) {
      if line.elementsEqual([UInt8(ascii: "?")]) { return nil }
      let fields = line.split(separator: 32, maxSplits: 3, omittingEmptySubsequences: false)
      guard fields.count == 4, fields[3].first == UInt8(ascii: "/"),
        let number = UInt64(String(decoding: fields[0], as: UTF8.self)),
        let size = Int64(String(decoding: fields[1], as: UTF8.self)), size >= 0,
        let time = Int64(String(decoding: fields[2], as: UTF8.self))
      else { continue }
      let path = FileName.text(Array(fields[3]))
      files.append(SeenFile(path: path, number: number, size: size, modified: time))
    }
    return files
  }

  private static func words(_ line: ArraySlice<UInt8>, _ most: Int) -> [String] {
    line.split(separator: 32, maxSplits: most).map { String(decoding: $0, as: UTF8.self) }
  }
}
