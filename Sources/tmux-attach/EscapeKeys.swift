/// Finds the escapes of ssh(1) among typed bytes: `~.` and its like, where a line
/// begins. Not in pasted text, whose lines may well begin so.
///
/// What the terminal itself sends in between (the mouse, the focus, answers) makes
/// no difference: Return, a move of the mouse and `~.` is an escape still.
struct EscapeKeys {
  enum Part: Equatable {
    case keys([UInt8])
    /// `~.`
    case end
    /// `~^Z`
    case suspend
    /// `~?`
    case list
  }

  private enum State {
    case within, lineStart, tilde
  }

  private var state = State.lineStart
  private var isPasting = false
  private var sequence: [UInt8] = []
  private var before = State.lineStart

  /// Takes typed bytes. Returns what they are. A tilde where a line begins waits for the next byte.
  mutating func receive(_ bytes: some Sequence<UInt8>) -> [Part] {
    var parts: [Part] = []
    var keys: [UInt8] = []
    for byte in bytes {
      guard state == .tilde else {
        if byte == UInt8(ascii: "~") && state == .lineStart && !isPasting && sequence.isEmpty {
          state = .tilde
        } else {
          keys.append(byte)
          follow(byte)
        }
        continue
      }
      state = .within
      if let command = Self.commands[byte] {
        if !keys.isEmpty { parts.append(.keys(keys)) }
        keys = []
        parts.append(command)
        state = .lineStart
      } else {
        keys.append(UInt8(ascii: "~"))
        if byte != UInt8(ascii: "~") {
          keys.append(byte)
          follow(byte)
        }
      }
    }
    if !keys.isEmpty { parts.append(.keys(keys)) }
    return parts
  }

  mutating func reset() { self = EscapeKeys() }

  private static let commands: [UInt8: Part] = [
    UInt8(ascii: "."): .end, 0x1a: .suspend, UInt8(ascii: "?"): .list,
  ]

  private mutating func follow(_ byte: UInt8) {
    if byte == 0x1b {
      before = sequence.isEmpty ? state : before
      sequence = [byte]
      state = .within
      return
    }
    guard !sequence.isEmpty else {
      state = byte == 0x0d || byte == 0x0a ? .lineStart : .within
      return
    }
    sequence.append(byte)
    guard sequence.count > 2 else {
      if byte != UInt8(ascii: "[") { endSequence() }
      return
    }
    if 0x40...0x7e ~= byte {
      if sequence == Self.pasteBegins { isPasting = true }
      if sequence == Self.pasteEnds { isPasting = false }
      if isFromTerminal { state = before }
      sequence = []
    } else if !(0x20...0x3f ~= byte) || sequence.count > 64 {
      endSequence()
    }
  }

  private mutating func endSequence() {
    let last = sequence.last
    sequence = []
    state = last == 0x0d || last == 0x0a ? .lineStart : .within
  }

  /// Whether a control sequence was not typed: the mouse (SGR), the focus, the
  /// cursor's place, what the terminal is, its modes.
  private var isFromTerminal: Bool {
    switch sequence.last {
    case UInt8(ascii: "M"), UInt8(ascii: "m"): sequence[2] == UInt8(ascii: "<")
    case UInt8(ascii: "I"), UInt8(ascii: "O"): sequence.count == 3
    case UInt8(ascii: "c"), UInt8(ascii: "n"), UInt8(ascii: "y"): true
    default: false
    }
  }

  private static let pasteBegins = Array("\u{1b}[200~".utf8)
  private static let pasteEnds = Array("\u{1b}[201~".utf8)
}
