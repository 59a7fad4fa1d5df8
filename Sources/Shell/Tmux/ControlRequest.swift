import CLibc
import Core

/// A script for the host, with what it is told: one question and one answer.
public struct ControlRequest: Sendable {
  /// What the script reads from its standard input.
  public enum Input: Sendable {
    /// Nothing: the end comes at once.
    case none
    /// These bytes.
    case bytes([UInt8])
    /// So many bytes of an open regular file, from its beginning; its offset stays.
    case file(descriptor: Int32, size: Int)

    var size: Int {
      switch self {
      case .none: 0
      case .bytes(let bytes): bytes.count
      case .file(_, let size): size
      }
    }
  }

  /// Lines for sh(1).
  public var script: String
  /// `$1`, `$2` ... of the script. Without NUL.
  public var arguments: [String]
  /// What the script reads.
  public var input: Input

  /// - Parameters:
  ///   - script: lines for sh(1). `exit` gives the answer's status. What is to be done
  ///     at the end goes into the function `leave`: the trap of the exit tells the status.
  ///   - arguments: `$1`, `$2` ... of the script, without NUL.
  ///   - input: what the script reads; it should count the bytes, since a link may be
  ///     cut while they are on their way.
  public init(_ script: String, _ arguments: [String] = [], input: Input = .none) {
    self.script = script
    self.arguments = arguments
    self.input = input
  }

  /// The command line for the user's shell on the host. The answer stands between two
  /// marks with `nonce` in them, see `ControlFrame`; the marks are put together
  /// by the host, so that one that shows its commands does not show a mark.
  func command(nonce: String) -> String {
    let words = arguments.map { " " + $0.shellQuoted }.joined()
    return ShellWord.login(
      script: """
        set --\(words)
        leave() { :; }
        trap 'status=$?; leave; printf "\\n%s%s %d\\n" \(ControlFrame.end) \(nonce) "$status"' 0
        printf '%s%s\\n' '\(ControlFrame.begin)' '\(nonce)'
        \(script)
        """, hidesInput: true)
  }
}

/// What a script said.
public struct ControlAnswer: Equatable, Sendable {
  /// Its exit status.
  public let status: Int32
  /// Its standard output, byte for byte.
  public let output: [UInt8]

  /// The output as text, without the line end behind it.
  public var text: String {
    var bytes = output[...]
    while let last = bytes.last, last == 10 || last == 13 { bytes = bytes.dropLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Finds a script's answer among what a login shell says: it begins behind a
/// line that ends in a mark, and it is over only with a second one that tells the
/// status. What comes before and after, login files mostly, counts for nothing.
public struct ControlFrame {
  /// The longest answer that is taken, bytes.
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
  public mutating func append(_ more: ArraySlice<UInt8>) {
    guard answer == nil, !isTooLong else { return }
    bytes += more
    if !hasBegun { findBegin() }
    if hasBegun { findEnd() }
    if answer == nil, bytes.count > Self.sizeLimit { isTooLong = true }
  }

  private mutating func findBegin() {
    if let place = bytes.place(of: beginMark, from: 0) {
      hasBegun = true
      bytes.removeFirst(place + beginMark.count)
    } else if bytes.count >= beginMark.count {
      bytes.removeFirst(bytes.count - beginMark.count + 1)
    }
  }

  private mutating func findEnd() {
    guard let place = bytes.place(of: endMark, from: searched) else {
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
}

extension [UInt8] {
  /// Where other bytes begin in these, at this place or behind it.
  public func place(of mark: [UInt8], from start: Int) -> Int? {
    withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress, start < bytes.count else { return nil }
      return clibc_memmem(base + start, bytes.count - start, mark, mark.count).map { $0 - base }
    }
  }
}
