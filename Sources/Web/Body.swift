/// The bytes of an answer as they come: in pieces, so that a large one is in memory
/// once, and not twice each time that it grows.
struct Body {
  private static let pieceSize = 1 << 20
  private var pieces: [[UInt8]] = []
  /// The bytes so far.
  private(set) var count = 0

  /// Adds bytes at the end.
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    count += bytes.count
    if let last = pieces.indices.last, pieces[last].count + bytes.count <= Self.pieceSize {
      pieces[last] += bytes
    } else {
      pieces.append(Array(bytes))
    }
  }

  /// Hands all of them out, and gives each piece back as soon as it was copied.
  mutating func take() -> [UInt8] {
    defer { self = Body() }
    if pieces.count < 2 { return pieces.first ?? [] }
    var whole: [UInt8] = []
    whole.reserveCapacity(count)
    for index in pieces.indices {
      whole += pieces[index]
      pieces[index] = []
    }
    return whole
  }
}
