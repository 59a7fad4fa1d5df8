/// What tells one action from another across the spellings of the wire: its
/// time, kind, four ids and the first 2000 UTF-16 units of its content.
///
/// A row and the live action it came from have the same key (contract: a live
/// action has no id, and its row's content is cut at 2000). Two equal actions
/// of one millisecond have the same key too. It is a digest of 128 bits, the
/// same in every process.
public struct ActionKey: Hashable, Sendable {
  /// The digest's first half.
  public let high: UInt64
  /// The digest's second half.
  public let low: UInt64

  /// - Parameters:
  ///   - fields: the action's members.
  ///   - scratch: memory for texts with escapes.
  public init(_ fields: ActionFields, scratch: ScanScratch = ScanScratch()) {
    defer { withExtendedLifetime(scratch) {} }
    var digest = SipHash128()
    for value in [fields.createdAt, fields.kind, fields.guild, fields.channel, fields.message] {
      digest.add(value, scratch)
    }
    digest.add(fields.user, scratch)
    if let raw = fields.content.rawText {
      let text = scratch.text(of: raw)
      let (count, isCut) = Self.rowPrefix(of: text)
      digest.add(1, text: UnsafeRawBufferPointer(rebasing: text[..<count]), isCut: isCut)
    } else {
      digest.add(0)
    }
    (high, low) = digest.finish()
  }

  /// - Parameter text: any text, such as an id.
  public init(text: UnsafeRawBufferPointer) {
    var digest = SipHash128()
    digest.add(1, text: text, isCut: false)
    (high, low) = digest.finish()
  }

  /// How much of a content its row keeps: the bytes of its first 2000 UTF-16
  /// units, and whether the cut goes through a surrogate pair, whose half then
  /// becomes U+FFFD.
  static func rowPrefix(of text: UnsafeRawBufferPointer) -> (count: Int, isCut: Bool) {
    // A byte is never more than one unit.
    if text.count <= 2000 { return (text.count, false) }
    var units = 0
    var index = 0
    while index < text.count {
      let byte = text[index]
      let isPair = byte >= 0xf0
      if byte & 0xc0 != 0x80 {
        if units == 2000 { return (index, false) }
        if isPair && units == 1999 { return (index, true) }
        units += isPair ? 2 : 1
      }
      index += 1
    }
    return (text.count, false)
  }
}

extension SipHash128 {
  fileprivate mutating func add(_ value: ScanValue, _ scratch: ScanScratch) {
    guard let raw = value.rawText else { return add(0) }
    add(1, text: scratch.text(of: raw), isCut: false)
  }

  fileprivate mutating func add(_ tag: UInt8, text: UnsafeRawBufferPointer, isCut: Bool) {
    add(tag)
    add(text)
    // U+FFFD, where a pair was cut in two.
    if isCut { for byte: UInt8 in [0xef, 0xbf, 0xbd] { add(byte) } }
    // No text holds 0xff: what follows cannot be taken for a part of it.
    add(0xff)
  }
}
