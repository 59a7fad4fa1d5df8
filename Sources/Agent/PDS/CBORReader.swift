import Core

/// Reads DAG-CBOR, of which each length is believed only as far as there are bytes, and each
/// nesting only so deep: what comes from a server may be anything.
struct CBORReader {
  static let deepest = 64
  /// The most values that are read: each takes far more room here than there.
  static let most = 100_000

  private let bytes: UnsafeRawBufferPointer
  private var at = 0
  private var count = 0
  /// The bytes that were passed over, as they are in the message.
  private(set) var leftOut = UnsafeRawBufferPointer(start: nil, count: 0)

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { at == bytes.count }

  /// `omitted`: the member of a map at the top whose bytes are passed over.
  mutating func next(leavingOut omitted: String? = nil) throws(Failure) -> CBORValue {
    try value(depth: 0, omitted)
  }

  private mutating func value(depth: Int, _ omitted: String? = nil) throws(Failure) -> CBORValue {
    guard depth < Self.deepest else { throw Failure("nested too deep") }
    count += 1
    guard count <= Self.most else { throw Failure("more than \(Self.most) values") }
    let (major, count) = try head()
    switch major {
    case 0, 1:
      guard count <= UInt64(Int64.max) else { throw Failure("a number over 63 bits") }
      return .integer(major == 0 ? Int64(count) : ~Int64(count))
    case 2: return .bytes(Array(try take(count)))
    case 3: return .text(try text(count))
    case 4:
      try expect(count)
      var elements: [CBORValue] = []
      for _ in 0..<count { elements.append(try value(depth: depth + 1)) }
      return .array(elements)
    case 5: return .map(try members(count, depth: depth, omitted))
    case 6: return .link(try link(count))
    default: return try simple(count)
    }
  }

  private mutating func members(
    _ count: UInt64, depth: Int, _ omitted: String?
  ) throws(Failure) -> [CBORValue.Member] {
    try expect(count, each: 2)
    var members: [CBORValue.Member] = []
    for _ in 0..<count {
      let (major, length) = try head()
      guard major == 3 else { throw Failure("a key that is no text") }
      let name = try text(length)
      if name == omitted {
        try skipBytes()
        continue
      }
      members.append(CBORValue.Member(name: name, value: try value(depth: depth + 1)))
    }
    return members
  }

  private mutating func skipBytes() throws(Failure) {
    let start = at
    let (major, count) = try head()
    if major == 2 {
      leftOut = UnsafeRawBufferPointer(rebasing: try take(count))
    } else {
      at = start
      _ = try value(depth: 1)
    }
  }

  private mutating func link(_ tag: UInt64) throws(Failure) -> CID {
    guard tag == 42 else { throw Failure("tag \(tag), not 42") }
    let (major, count) = try head()
    guard major == 2 else { throw Failure("a link that is no bytes") }
    let bytes = try take(count)
    guard bytes.first == 0, (5...128).contains(bytes.count) else {
      throw Failure("a link that is no CID")
    }
    return CID(bytes: bytes.dropFirst())
  }

  private func simple(_ value: UInt64) throws(Failure) -> CBORValue {
    switch bytes[at - 1] {
    case 0xf4: return .bool(false)
    case 0xf5: return .bool(true)
    case 0xf6: return .null
    default: throw Failure("a float, or a value that DAG-CBOR does not have")
    }
  }

  private mutating func text(_ count: UInt64) throws(Failure) -> String {
    guard let text = String(validating: try take(count), as: UTF8.self) else {
      throw Failure("a text that is not UTF-8")
    }
    return text
  }

  private mutating func head() throws(Failure) -> (major: UInt8, value: UInt64) {
    guard at < bytes.count else { throw Failure("cut short") }
    let first = bytes[at]
    at += 1
    let code = first & 31
    if code < 24 { return (first >> 5, UInt64(code)) }
    guard code <= 27 else { throw Failure("a length that is not given") }
    let rest = try take(1 << UInt64(code - 24))
    return (first >> 5, rest.reduce(0) { $0 << 8 | UInt64($1) })
  }

  /// Makes sure that so many values can follow at all.
  private func expect(_ count: UInt64, each size: UInt64 = 1) throws(Failure) {
    if count > UInt64(bytes.count - at) / size { throw Failure("cut short") }
  }

  private mutating func take(_ count: UInt64) throws(Failure) -> Slice<UnsafeRawBufferPointer> {
    try expect(count)
    defer { at += Int(count) }
    return bytes[at..<at + Int(count)]
  }
}
