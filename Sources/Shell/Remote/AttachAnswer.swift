/// What the script of an `AttachLine` says right before it becomes tmux, or ends.
public enum AttachAnswer: String, Equatable, Sendable {
  /// tmux comes next.
  case attaching = "ok"
  /// The session that was to be attached to again is no more.
  case gone
  /// There is no tmux on the login PATH.
  case noTmux = "notmux"
  /// A new session's folder cannot be entered.
  case noFolder = "nofolder"
  /// A new session's program is not on the login PATH.
  case noHarness = "noharness"
}

/// Takes the answer out of what a terminal receives, and lets all else pass: what
/// login files print, and the bytes of tmux.
public struct AttachAnswerFilter: Sendable {
  /// The answer, once it has come.
  public private(set) var answer: AttachAnswer?
  private let mark: [UInt8]
  /// The beginning of what may become the answer.
  private var held: [UInt8] = []

  /// - Parameter nonce: that of the `AttachLine`.
  public init(nonce: String) {
    mark = Array("\u{1e}riff:\(nonce):".utf8)
  }

  /// Takes the next bytes.
  ///
  /// - Returns: those that pass, before the answer and behind it.
  public mutating func take(_ bytes: [UInt8]) -> (before: [UInt8], behind: [UInt8]) {
    var before: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      hold(byte, &before)
      if answer != nil { return (before, Array(bytes[(index + 1)...])) }
    }
    return (before, [])
  }

  /// Takes it that the session is there, from another sign than the answer.
  public mutating func assumeAttaching() {
    if answer == nil { answer = .attaching }
  }

  private mutating func hold(_ byte: UInt8, _ passed: inout [UInt8]) {
    if held.count < mark.count {
      if byte == mark[held.count] {
        held.append(byte)
        return
      }
    } else if byte == 0x1e {
      answer = AttachAnswer(rawValue: String(decoding: held[mark.count...], as: UTF8.self))
      if answer != nil {
        held = []
        return
      }
    } else if held.count < mark.count + 16 {
      held.append(byte)
      return
    }
    // Not the answer after all. The mark's first byte comes in it once only.
    passed += held
    held = []
    if byte == mark[0] { held.append(byte) } else { passed.append(byte) }
  }
}
