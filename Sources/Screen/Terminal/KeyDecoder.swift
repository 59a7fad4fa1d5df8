/// A key that was pressed, as far as a terminal tells.
public enum Key: Equatable, Sendable {
  /// A printable character, space among them.
  case character(Character)
  /// Control with a letter, `c` for ^C, or with one of `@[\]^_`.
  case control(Character)
  case up, down, left, right, pageUp, pageDown, home, end
  case enter, escape, tab, backspace, insert, delete
  /// A sequence that means nothing here: a function key, a report.
  case other
}

/// Makes keys of the bytes that a terminal sends (ECMA-48 sequences as xterm,
/// VT220, rxvt and the Linux console send them; text in UTF-8).
///
/// Bytes may come in any pieces. An escape that nothing follows is a key of its
/// own only after a pause, which is the caller's to notice: see `pause`.
public struct KeyDecoder: Sendable {
  /// No terminal's sequence is longer; what is, is rubbish.
  private static let mostBytes = 64
  private static let escapeByte: UInt8 = 0x1b
  private var pending: [UInt8] = []

  public init() {}

  /// Whether the beginning of a sequence waits for its rest.
  public var isPending: Bool { !pending.isEmpty }

  /// Takes bytes.
  ///
  /// - Returns: the keys that are complete.
  public mutating func receive(_ bytes: some Sequence<UInt8>) -> [Key] {
    var keys: [Key] = []
    for byte in bytes {
      pending.append(byte)
      step(&keys)
    }
    return keys
  }

  /// Nothing came for a while (some 50 ms): what waits is complete.
  public mutating func pause() -> [Key] {
    defer { pending = [] }
    if pending == [Self.escapeByte] { return [.escape] }
    return pending.isEmpty ? [] : [.other]
  }

  private mutating func step(_ keys: inout [Key]) {
    guard let first = pending.first else { return }
    if first == Self.escapeByte {
      stepEscape(&keys)
    } else if first < 0x20 || first == 0x7f {
      finish(Self.control(first), &keys)
    } else if first < 0x80 {
      finish(.character(Character(Unicode.Scalar(first))), &keys)
    } else {
      stepText(first, &keys)
    }
  }

  private mutating func stepText(_ first: UInt8, _ keys: inout [Key]) {
    let length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
    guard first >= 0xc2, first < 0xf5 else { return finish(.other, &keys) }
    if let last = pending.last, pending.count > 1, last & 0xc0 != 0x80 {
      // Cut off: the byte that did it begins anew.
      finish(.other, &keys)
      pending = [last]
      return step(&keys)
    }
    guard pending.count == length else { return }
    let text = String(decoding: pending, as: UTF8.self)
    finish(text.count == 1 && text != "\u{fffd}" ? .character(Character(text)) : .other, &keys)
  }

  private mutating func stepEscape(_ keys: inout [Key]) {
    guard pending.count > 1, let last = pending.last else { return }
    if last == Self.escapeByte {
      // Escape, then a key of its own.
      finish(pending.count == 2 ? .escape : .other, &keys)
      pending = [last]
      return
    }
    switch pending[1] {
    case UInt8(ascii: "["):
      guard pending.count > 2 else { return }
      // The Linux console's function keys: ESC [ [ A.
      if pending.count == 3 && last == UInt8(ascii: "[") { return }
      if (0x40...0x7e).contains(last) { return finish(Self.sequence(pending[2...]), &keys) }
      let isPart = (0x20...0x3f).contains(last)
      if !isPart || pending.count >= Self.mostBytes { finish(.other, &keys) }
    case UInt8(ascii: "O"):
      if pending.count == 3 { finish(Self.final(last), &keys) }
    default:
      // Alt with a key.
      finish(.other, &keys)
    }
  }

  private mutating func finish(_ key: Key, _ keys: inout [Key]) {
    pending = []
    keys.append(key)
  }

  private static func control(_ byte: UInt8) -> Key {
    switch byte {
    case 0x09: .tab
    case 0x0a, 0x0d: .enter
    case 0x08, 0x7f: .backspace
    case 0x01...0x1a: .control(Character(Unicode.Scalar(byte + 0x60)))
    default: .control(Character(Unicode.Scalar(byte + 0x40)))
    }
  }

  /// What follows `ESC [`, its last byte included.
  private static func sequence(_ bytes: ArraySlice<UInt8>) -> Key {
    guard let last = bytes.last, bytes.first != UInt8(ascii: "[") else { return .other }
    let parameters = bytes.dropLast()
    guard last == UInt8(ascii: "~") else {
      // Modifiers (`1;5A`) do not change what an arrow means here; anything
      // else with parameters is a report.
      let isKey = parameters.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x3b }
      return isKey ? final(last) : .other
    }
    let number = parameters.prefix { (0x30...0x39).contains($0) }
    let keys: [String: Key] = [
      "1": .home, "2": .insert, "3": .delete, "4": .end, "5": .pageUp, "6": .pageDown, "7": .home,
      "8": .end,
    ]
    return keys[String(decoding: number, as: UTF8.self)] ?? .other
  }

  private static func final(_ byte: UInt8) -> Key {
    switch Character(Unicode.Scalar(byte)) {
    case "A": .up
    case "B": .down
    case "C": .right
    case "D": .left
    case "H": .home
    case "F": .end
    case "M": .enter
    default: .other
    }
  }
}
