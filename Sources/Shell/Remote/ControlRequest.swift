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
  ///   - script: lines for sh(1). `exit` gives the answer's status.
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
    let words = arguments.map { " " + ShellWord.quoted($0) }.joined()
    return ShellWord.login(
      script: """
        set --\(words)
        printf '%s%s\\n' '\(ControlFrame.begin)' '\(nonce)'
        (
        \(script)
        )
        printf '\\n%s%s %d\\n' '\(ControlFrame.end)' '\(nonce)' "$?"
        """, hidesInput: true)
  }
}

/// What a script said.
public struct ControlAnswer: Equatable, Sendable {
  /// Its exit status.
  public let status: Int32
  /// Its standard output, byte for byte.
  public let output: [UInt8]

  /// - Parameters:
  ///   - status: of the script.
  ///   - output: of the script.
  public init(status: Int32, output: [UInt8]) {
    self.status = status
    self.output = output
  }

  /// The output as text, without the line end behind it.
  public var text: String {
    var bytes = output[...]
    while let last = bytes.last, last == 10 || last == 13 { bytes = bytes.dropLast() }
    return String(decoding: bytes, as: UTF8.self)
  }
}
