import Core

/// A value of DAG-CBOR, as far as records and the events of a server have them: no floats.
indirect enum CBORValue: Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case text(String)
  case bytes([UInt8])
  case link(CID)
  case array([CBORValue])
  case map([Member])

  struct Member: Equatable {
    var name: String
    var value: CBORValue
  }

  subscript(name: String) -> CBORValue? {
    guard case .map(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  var text: String? { if case .text(let text) = self { text } else { nil } }

  var integer: Int64? { if case .integer(let number) = self { number } else { nil } }

  var elements: [CBORValue] { if case .array(let elements) = self { elements } else { [] } }

  var link: CID? { if case .link(let cid) = self { cid } else { nil } }

  /// As JSON: links as the text of their CIDs, bytes as base64, both as plain strings.
  var json: String { json(isRecord: false) }

  /// As JSON as records have it: `{"$link":CID}`, and `{"$bytes":BASE64}` without padding, as the
  /// reference server writes them.
  var recordJSON: String { json(isRecord: true) }

  private func json(isRecord: Bool) -> String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): String(value)
    case .text(let value): JSONQuote.string(value)
    case .bytes(let value) where isRecord:
      "{\"$bytes\":" + JSONQuote.string(String(Base64.text(value).prefix { $0 != "=" })) + "}"
    case .bytes(let value): JSONQuote.string(Base64.text(value))
    case .link(let cid) where isRecord: "{\"$link\":" + JSONQuote.string(cid.description) + "}"
    case .link(let cid): JSONQuote.string(cid.description)
    case .array(let elements):
      "[" + elements.map { $0.json(isRecord: isRecord) }.joined(separator: ",") + "]"
    case .map(let members):
      "{"
        + members.map { JSONQuote.string($0.name) + ":" + $0.value.json(isRecord: isRecord) }
        .joined(separator: ",") + "}"
    }
  }

  /// In DAG-CBOR: keys sorted by length, then bytes; everything in its shortest form.
  var encoded: [UInt8] {
    var out: [UInt8] = []
    encode(into: &out)
    return out
  }

  private func encode(into out: inout [UInt8]) {
    switch self {
    case .null: out.append(0xf6)
    case .bool(let value): out.append(value ? 0xf5 : 0xf4)
    case .integer(let value):
      if value >= 0 {
        Self.head(0, UInt64(value), &out)
      } else {
        Self.head(1, UInt64(~value), &out)
      }
    case .text(let value): Self.append(3, value.utf8, &out)
    case .bytes(let value): Self.append(2, value, &out)
    case .link(let cid):
      Self.head(6, 42, &out)
      Self.append(2, [0] + (cid.bytes ?? []), &out)
    case .array(let elements):
      Self.head(4, UInt64(elements.count), &out)
      for element in elements { element.encode(into: &out) }
    case .map(let members):
      Self.head(5, UInt64(members.count), &out)
      let sorted = members.sorted { one, other in
        let (a, b) = (one.name.utf8, other.name.utf8)
        return a.count == b.count ? a.lexicographicallyPrecedes(b) : a.count < b.count
      }
      for member in sorted {
        Self.append(3, member.name.utf8, &out)
        member.value.encode(into: &out)
      }
    }
  }

  private static func append(_ major: UInt8, _ bytes: some Collection<UInt8>, _ out: inout [UInt8])
  {
    head(major, UInt64(bytes.count), &out)
    out += bytes
  }

  private static func head(_ major: UInt8, _ value: UInt64, _ out: inout [UInt8]) {
    let (size, code): (Int, UInt8) =
      switch value {
      case 0..<24: (0, UInt8(value))
      case 24...0xff: (1, 24)
      case 0x100...0xffff: (2, 25)
      case 0x1_0000...0xffff_ffff: (4, 26)
      default: (8, 27)
      }
    out.append(major << 5 | code)
    for place in stride(from: size - 1, through: 0, by: -1) {
      out.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * place)))
    }
  }
}

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

/// What a record is called by its content: the SHA-256 of its DAG-CBOR, or any other CID of the
/// same form (Agent/PDS/CONTRACT.md 4).
public struct CID: Hashable, Sendable, CustomStringConvertible {
  /// `b` and base32 in lower case.
  public let description: String

  private static let letters = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

  /// - Parameter text: nil when it is not base32 behind a `b`, or absurdly short or long.
  public init?(_ text: String) {
    guard (8...256).contains(text.utf8.count), text.utf8.first == UInt8(ascii: "b"),
      text.utf8.allSatisfy({ Self.letters.contains($0) })
    else { return nil }
    description = text
  }

  /// `bytes`: in binary, without the zero that stands before it in CBOR.
  init(bytes: some Sequence<UInt8>) {
    var text = [UInt8(ascii: "b")]
    var (bits, count) = (UInt32(0), 0)
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 5 {
        count -= 5
        text.append(Self.letters[Int(bits >> UInt32(count) & 31)])
      }
      bits &= 1 << UInt32(count) - 1
    }
    if count > 0 { text.append(Self.letters[Int(bits << UInt32(5 - count) & 31)]) }
    description = String(decoding: text, as: UTF8.self)
  }

  init(of record: [UInt8]) { self = record.withUnsafeBytes { CID(of: $0) } }

  init(of record: UnsafeRawBufferPointer) { self.init(of: record, codec: 0x71) }

  /// That of a blob.
  init(ofBlob blob: [UInt8]) { self = blob.withUnsafeBytes { CID(of: $0, codec: 0x55) } }

  private init(of record: UnsafeRawBufferPointer, codec: UInt8) {
    self.init(bytes: [0x01, codec, 0x12, 0x20] + sha256(record))
  }

  /// Whether it has all its parts: version 1, a codec, and a hash as long as it says.
  var isWhole: Bool {
    guard let bytes, bytes.first == 1 else { return false }
    return bytes.withUnsafeBytes { bytes in
      var at = 0
      for _ in 0..<3 where (try? CARBlocks.number(bytes, &at)) == nil { return false }
      guard let length = try? CARBlocks.number(bytes, &at) else { return false }
      return length == bytes.count - at
    }
  }

  /// In binary; nil for what no base32 encoder writes.
  var bytes: [UInt8]? {
    var found: [UInt8] = []
    var (bits, count) = (UInt32(0), 0)
    for letter in description.utf8.dropFirst() {
      guard let value = Self.letters.firstIndex(of: letter) else { return nil }
      bits = bits << 5 | UInt32(value)
      count += 5
      if count >= 8 {
        count -= 8
        found.append(UInt8(bits >> UInt32(count) & 255))
      }
      bits &= 1 << UInt32(count) - 1
    }
    return bits == 0 && count < 5 ? found : nil
  }
}

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

/// A whole repository, as a server gives it in one file: which records there are, and what they
/// are called (AT Protocol, "Repository").
struct RepositoryTree {
  /// By `NSID/KEY`, sorted by bytes.
  private(set) var records: [(path: String, cid: CID)] = []
  private var blocks: [[UInt8]: UnsafeRawBufferPointer] = [:]

  /// The deepest tree that is read; those of servers have a level for each four-fold.
  private static let deepest = 64

  /// Reads the tree of a file, which must outlive it; records are not looked at.
  ///
  /// - Parameter file: a CAR file whose first root is a commit.
  /// - Throws: `Failure` where it is none, or a part of the tree is missing.
  init(_ file: UnsafeRawBufferPointer) throws(Failure) {
    var car = try CARBlocks(file)
    while let (cid, content) = try car.next() { blocks[cid] = content }
    guard let root = try car.root(), let commit = try value(of: root),
      let data = commit["data"]?.link
    else { throw Failure("a repository without a commit") }
    try walk(data, depth: 0)
  }

  /// What a block holds; nil where the file has none of that name.
  ///
  /// - Throws: `Failure` for what cannot be read.
  func value(of cid: CID) throws(Failure) -> CBORValue? {
    guard let name = cid.bytes, let block = blocks[name] else { return nil }
    var reader = CBORReader(block)
    return try reader.next()
  }

  private mutating func walk(_ cid: CID, depth: Int) throws(Failure) {
    guard depth < Self.deepest, let node = try value(of: cid) else {
      throw Failure("a repository of which a part is missing")
    }
    if let left = node["l"]?.link { try walk(left, depth: depth + 1) }
    var path: [UInt8] = []
    for entry in node["e"]?.elements ?? [] {
      // Each key is told by how much of the one before it begins with.
      guard let shared = entry["p"]?.integer, (0...Int64(path.count)).contains(shared),
        case .bytes(let rest) = entry["k"], let record = entry["v"]?.link
      else { throw Failure("a repository whose tree is none") }
      path = path.prefix(Int(shared)) + rest
      records.append((String(decoding: path, as: UTF8.self), record))
      if let right = entry["t"]?.link { try walk(right, depth: depth + 1) }
    }
  }
}
