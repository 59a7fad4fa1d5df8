import CLibc
import Core

/// Finds a script's answer among what a login shell says: it begins behind a
/// line that ends in a mark, and it is over only with a second one that tells the
/// status. What comes before and after, login files mostly, counts for nothing.
public struct ControlFrame {
  /// An answer longer than this is none.
  public static let sizeLimit = 64 << 20
  static let begin = "agentutils-begin-"
  static let end = "agentutils-end-"

  /// Whether the first mark has come.
  public private(set) var hasBegun = false
  /// The whole answer, once its end has come.
  public private(set) var answer: ControlAnswer?
  /// Whether there is too much of it.
  public private(set) var isTooLong = false

  private let beginMark: [UInt8]
  private let endMark: [UInt8]
  private var bytes: [UInt8] = []
  /// Before it, no second mark begins.
  private var searched = 0

  /// - Parameter nonce: letters and digits that nobody can guess.
  public init(nonce: String) {
    beginMark = Array((Self.begin + nonce + "\n").utf8)
    endMark = Array(("\n" + Self.end + nonce + " ").utf8)
  }

  /// What has come of an answer that has not ended.
  public var part: [UInt8] { hasBegun ? bytes : [] }

  /// Takes what came next.
  public mutating func take(_ more: UnsafeRawBufferPointer) {
    guard answer == nil, !isTooLong else { return }
    bytes.append(contentsOf: more)
    if !hasBegun { findBegin() }
    if hasBegun { findEnd() }
    if answer == nil, bytes.count > Self.sizeLimit { isTooLong = true }
  }

  private mutating func findBegin() {
    if let place = Self.find(beginMark, in: bytes, from: 0) {
      hasBegun = true
      bytes.removeFirst(place + beginMark.count)
    } else if bytes.count >= beginMark.count {
      bytes.removeFirst(bytes.count - beginMark.count + 1)
    }
  }

  private mutating func findEnd() {
    guard let place = Self.find(endMark, in: bytes, from: searched) else {
      searched = max(0, bytes.count - endMark.count + 1)
      return
    }
    searched = place
    let rest = bytes[(place + endMark.count)...]
    // A status cut in two may look whole: 1 of 127.
    guard let line = rest.firstIndex(of: 10) else { return }
    guard let status = Int32(String(decoding: rest[..<line], as: UTF8.self)) else {
      searched = place + 1
      return
    }
    answer = ControlAnswer(status: status, output: Array(bytes[..<place]))
    bytes = []
  }

  private static func find(_ mark: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
    bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress, start < bytes.count else { return nil }
      let found = mark.withUnsafeBytes {
        clibc_memmem(base + start, bytes.count - start, $0.baseAddress!, $0.count)
      }
      return found.map { $0 - base }
    }
  }
}
