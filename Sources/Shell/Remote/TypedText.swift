import Core

/// Text on its way to the input line of a session: by the contract it is trimmed, one
/// blank follows it, and it holds nothing that would be a key of its own.
public struct TypedText: Equatable, Sendable {
  /// What the pane receives, byte for byte.
  public let bytes: [UInt8]
  /// Whether every byte counts as it is: controls are keys.
  public let isRaw: Bool

  /// Text as a person means it: trimmed, one blank behind it.
  ///
  /// - Parameter text: UTF-8. Line feeds and tabs inside it stay: it then is pasted.
  /// - Throws: `UsageError` for control characters and for what is no UTF-8.
  public init(_ text: [UInt8]) throws(UsageError) {
    isRaw = false
    if let fault = text.withUnsafeBytes({ UTF8Text.firstFault($0) }) {
      throw UsageError("byte \(fault + 1) of the text is not UTF-8 (--raw types it)")
    }
    var scalars = String(decoding: text, as: UTF8.self).unicodeScalars[...]
    while let first = scalars.first, first.properties.isWhitespace { scalars.removeFirst() }
    while let last = scalars.last, last.properties.isWhitespace { scalars.removeLast() }
    for scalar in scalars where Self.isKey(scalar) {
      throw UsageError(
        "the text holds the control character \(Visible.escape(scalar)) (--raw types it)")
    }
    bytes = scalars.isEmpty ? [] : Array(String(scalars).utf8) + [0x20]
  }

  /// Bytes as they are.
  public init(raw bytes: [UInt8]) {
    isRaw = true
    self.bytes = bytes
  }

  /// Whether there is nothing to type.
  public var isEmpty: Bool { bytes.isEmpty }

  /// Up to here text is typed key by key; a longer one is pasted.
  static let longestKeys = 8192

  /// Whether the program is to be told that this is a paste and no keys: when it is
  /// long, and when a line end in it could be taken for Return.
  var isPaste: Bool {
    !isRaw && (bytes.count > Self.longestKeys || bytes.contains { $0 < 0x20 })
  }

  /// Whether it goes as an argument; else as a buffer of tmux. tmux's send-keys knows
  /// text alone, and only what it gives a width to; one command of tmux is 16 KB at most,
  /// and one of libssh2 32 KB, in which a quote that is quoted four times takes 200 bytes.
  var isArgument: Bool {
    bytes.count <= Self.longestKeys && bytes.allSatisfy { 0x20...0x7e ~= $0 }
      && bytes.count { #"'\!"#.utf8.contains($0) } <= 64
  }

  private static func isKey(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 9, 10: false
    case ..<0x20, 0x7f...0x9f: true
    default: false
    }
  }
}
