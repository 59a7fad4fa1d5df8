/// Takes the envelopes of a Connect stream out of bytes that are cut anywhere: a byte of
/// flags, four of length, so many of content (Connect protocol, "Streaming response").
public struct EnvelopeReader: Sendable {
  /// What was found.
  public enum Item: Equatable, Sendable {
    /// The content of a message.
    case message([UInt8])
    /// The content of the last envelope.
    case end([UInt8])
    /// A message that was passed over for its size; its bytes.
    case oversize(Int)
    /// What came is no envelope, or not one that was asked for; nothing behind it can be
    /// read. One line.
    case fault(String)
  }

  private let limit: Int
  private var head: [UInt8] = []
  private var content: [UInt8] = []
  private var missing: Int?
  private var isOver = false

  private static let headSize = 5
  private static let (compressed, last): (UInt8, UInt8) = (1, 2)
  /// Room that is taken at once, whatever a length claims, bytes.
  private static let firstRoom = 64 << 10

  /// - Parameter limit: the largest content of a message that is kept, bytes.
  public init(limit: Int) { self.limit = limit }

  /// Takes bytes up to the end of the next envelope.
  ///
  /// - Parameter bytes: what came; what was taken is gone from its front.
  /// - Returns: nil when more bytes are needed, and behind a fault or the last envelope.
  public mutating func next(_ bytes: inout UnsafeRawBufferPointer) -> Item? {
    while !isOver {
      if missing == nil {
        receive(&bytes, upTo: Self.headSize - head.count) { $0.head += $1 }
        guard head.count == Self.headSize else { return nil }
        if let item = begin() { return item }
      }
      guard let wanted = missing else { continue }
      let isKept = size <= limit
      receive(&bytes, upTo: wanted) { reader, piece in
        reader.missing = wanted - piece.count
        if isKept { reader.content += piece }
      }
      guard missing == 0 else { return nil }
      return finish()
    }
    return nil
  }

  private mutating func receive(
    _ bytes: inout UnsafeRawBufferPointer, upTo count: Int,
    _ keep: (inout EnvelopeReader, UnsafeRawBufferPointer.SubSequence) -> Void
  ) {
    let piece = bytes.prefix(count)
    keep(&self, piece)
    bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(piece.count))
  }

  private var size: Int { head.dropFirst().reduce(0) { $0 << 8 | Int($1) } }

  private mutating func begin() -> Item? {
    let flags = head[0]
    if flags & ~(Self.compressed | Self.last) != 0 {
      return fail("not an envelope: it begins with the byte \(flags)")
    }
    if flags & Self.compressed != 0 { return fail("a compressed message, which was not asked for") }
    if flags & Self.last != 0, size > limit { return fail("a last envelope of \(size) bytes") }
    missing = size
    if size <= limit { content.reserveCapacity(min(size, Self.firstRoom)) }
    return nil
  }

  private mutating func finish() -> Item {
    defer {
      head = []
      content = []
      missing = nil
    }
    if head[0] & Self.last != 0 {
      isOver = true
      return .end(content)
    }
    return size > limit ? .oversize(size) : .message(content)
  }

  private mutating func fail(_ reason: String) -> Item {
    isOver = true
    return .fault(reason)
  }

  /// A message in its envelope.
  public static func envelope(_ message: [UInt8]) -> [UInt8] {
    let size = UInt32(message.count)
    return [
      0, UInt8(size >> 24), UInt8(size >> 16 & 255), UInt8(size >> 8 & 255), UInt8(size & 255),
    ]
      + message
  }
}
