import Core

/// The blocks of a CAR file, version 1: each a CID and what it names. A commit brings its own
/// along so, and a whole repository comes so, too (Agent/PDS/CONTRACT.md 6).
struct CARBlocks {
  private let bytes: UnsafeRawBufferPointer
  private var at = 0
  private var header = UnsafeRawBufferPointer(start: nil, count: 0)

  /// - Throws: `Failure` where there is no header.
  init(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    self.bytes = bytes
    header = try take(try Self.number(bytes, &at))
  }

  /// What all else hangs on; nil where the header names nothing.
  func root() throws(Failure) -> CID? {
    var reader = CBORReader(header)
    return try reader.next()["roots"]?.elements.first?.link
  }

  /// The next block, by its CID in binary; nil at the end.
  ///
  /// - Throws: `Failure` where it is cut short.
  mutating func next() throws(Failure) -> (cid: [UInt8], content: UnsafeRawBufferPointer)? {
    if at == bytes.count { return nil }
    let block = try take(try Self.number(bytes, &at))
    let size = try Self.sizeOfCID(block)
    return (Array(block[..<size]), UnsafeRawBufferPointer(rebasing: block[size...]))
  }

  /// How many bytes of a block are its CID: version, codec, and the hash with its length.
  private static func sizeOfCID(_ block: UnsafeRawBufferPointer) throws(Failure) -> Int {
    // The oldest form is the hash alone.
    if block.count >= 34, block[0] == 0x12, block[1] == 0x20 { return 34 }
    var at = 0
    for _ in 0..<3 { _ = try number(block, &at) }
    let length = try number(block, &at)
    guard length <= block.count - at else { throw Failure("a block that is cut short") }
    return at + length
  }

  private mutating func take(_ count: Int) throws(Failure) -> UnsafeRawBufferPointer {
    guard count <= bytes.count - at else { throw Failure("blocks that are cut short") }
    defer { at += count }
    return UnsafeRawBufferPointer(rebasing: bytes[at..<at + count])
  }

  /// A number of seven bits a byte, the lowest first; goes on behind it.
  static func number(_ bytes: UnsafeRawBufferPointer, _ at: inout Int) throws(Failure) -> Int {
    var value = 0
    for place in 0..<8 {
      guard at < bytes.count else { break }
      let byte = bytes[at]
      at += 1
      value |= Int(byte & 127) << (7 * place)
      if byte < 128 { return value }
    }
    throw Failure("a length that is none")
  }
}
