public import Core

/// A record on its way to a server: the bytes it was given with, and the members that every
/// record has.
public struct RecordDraft: Sendable {
  /// One JSON object.
  public let bytes: [UInt8]
  /// What a server that keeps it as it is calls it.
  public let cid: CID

  /// The largest request that servers take, bytes, with what stands around the record.
  public static let largest = 1_000_000

  /// Reads a record.
  ///
  /// A `$type` is put in front where there is none, and `createdAt` behind it where it is
  /// wanted; all else stays as it is.
  ///
  /// - Parameters:
  ///   - text: one JSON object. Floats, which records cannot hold, are refused, as are whole
  ///     numbers that some servers would round.
  ///   - collection: where it goes, and what its `$type` must be.
  ///   - created: the time for a missing `createdAt`; nil adds none.
  public init(
    _ text: UnsafeRawBufferPointer, for collection: NSID, created: Timestamp? = nil
  ) throws(Failure) {
    try Self.checkText(text)
    guard case .map(let members) = try CBORValue.record(text) else {
      throw Failure("not an object")
    }
    var added: [CBORValue.Member] = []
    if let type = members.first(where: { $0.name == "$type" })?.value {
      guard type.text == collection.description else {
        throw Failure("its $type is not \(collection)")
      }
    } else {
      added.append(.init(name: "$type", value: .text(collection.description)))
    }
    if let created, !members.contains(where: { $0.name == "createdAt" }) {
      added.append(.init(name: "createdAt", value: .text(created.rfc3339)))
    }
    bytes = Self.joined(added, text, isEmpty: members.isEmpty)
    guard bytes.count <= Self.largest else {
      throw Failure("larger than \(Self.largest) bytes")
    }
    cid = CID(of: CBORValue.map(added + members).encoded)
  }

  /// Reads a record that is kept.
  public init(_ text: [UInt8], for collection: NSID) throws(Failure) {
    self = try text.scan { bytes throws(Failure) in try Self(bytes, for: collection) }
  }

  /// Makes sure that something is JSON in UTF-8.
  static func checkText(_ text: UnsafeRawBufferPointer) throws(Failure) {
    if let (fault, offset) = ScanValidator.firstFault(text) {
      throw Failure("\(fault.reason) at byte \(offset)")
    }
    guard UTF8Text.isValid(text) else { throw Failure("not UTF-8") }
  }

  private static func joined(
    _ added: [CBORValue.Member], _ text: UnsafeRawBufferPointer, isEmpty: Bool
  ) -> [UInt8] {
    let brace = UInt8(ascii: "{")
    guard !added.isEmpty, let start = text.firstIndex(of: brace) else { return Array(text) }
    let head = String(CBORValue.map(added).json.dropLast()) + (isEmpty ? "" : ",")
    return Array(head.utf8) + text[(start + 1)...]
  }
}

extension CBORValue {
  /// The greatest number that every server keeps exactly.
  private static let greatest: Int64 = 1 << 53 - 1

  /// A JSON text as what it is on a server (AT Protocol, "Data Model").
  static func record(_ text: UnsafeRawBufferPointer) throws(Failure) -> CBORValue {
    var cursor = ScanCursor(text)
    cursor.skipWhite()
    guard let value = try? cursor.value() else { throw Failure("not JSON") }
    return try tree(value, depth: 0)
  }

  private static func tree(_ value: ScanValue, depth: Int) throws(Failure) -> CBORValue {
    guard depth < CBORReader.deepest else { throw Failure("nested too deep") }
    if value.isObject { return try object(value, depth: depth) }
    if value.isArray {
      var elements: [CBORValue] = []
      do {
        var scan = try ScanElements(value.bytes)
        while try scan.next() { elements.append(try tree(scan.value, depth: depth + 1)) }
      } catch {
        throw fault(error)
      }
      return .array(elements)
    }
    if value.isString { return .text(value.string ?? "") }
    if value.isNumber { return .integer(try number(value)) }
    switch value.start.pointee {
    case UInt8(ascii: "t"): return .bool(true)
    case UInt8(ascii: "f"): return .bool(false)
    default: return .null
    }
  }

  private static func number(_ value: ScanValue) throws(Failure) -> Int64 {
    let token = String(decoding: value.bytes.prefix(40), as: UTF8.self)
    if value.bytes.contains(where: { ".eE".utf8.contains($0) }) {
      throw Failure("no floats in records: \(token)")
    }
    guard let number = Int64(token), (-greatest...greatest).contains(number) else {
      throw Failure("a number over 53 bits: \(token)")
    }
    return number
  }

  private static func object(_ value: ScanValue, depth: Int) throws(Failure) -> CBORValue {
    var members: [CBORValue.Member] = []
    // Texts that look alike are two names.
    var names: Set<[UInt8]> = []
    do {
      var scan = try ScanMembers(value.bytes)
      while try scan.next() {
        let name = scan.key.unescaped
        guard names.insert(Array(name.utf8)).inserted else {
          throw Failure("two members of one name: \(name.prefix(40))")
        }
        members.append(.init(name: name, value: try tree(scan.value, depth: depth + 1)))
      }
    } catch {
      throw fault(error)
    }
    guard members.count == 1, let text = members[0].value.text else { return .map(members) }
    switch members[0].name {
    case "$link":
      if let cid = CID(text), cid.isWhole { return .link(cid) }
      // A CID that is written in another way.
      let isOther = ["Qm", "z", "k", "f", "u"].contains { text.hasPrefix($0) }
      if isOther, text.utf8.count >= 40 { throw Failure("a $link that is not a CID in base32") }
    case "$bytes":
      if let bytes = Base64.recordBytes(of: text) { return .bytes(bytes) }
      // With the other letters for two of them servers differ in what they make of it.
      if text.utf8.contains(where: { "-_".utf8.contains($0) }),
        text.utf8.withContiguousStorageIfAvailable({ code in
          Base64.bytes(of: UnsafeRawBufferPointer(code)) != nil
        }) == true
      {
        throw Failure("$bytes that are not base64")
      }
    default: break
    }
    // Servers keep as it is what is neither.
    return .map(members)
  }

  private static func fault(_ error: any Error) -> Failure {
    error as? Failure ?? Failure("not JSON")
  }
}

extension Base64 {
  /// With the letters that servers take, and either all of the padding or none.
  fileprivate static func recordBytes(of text: String) -> [UInt8]? {
    let code = Array(text.utf8)
    if code.contains(where: { "-_".utf8.contains($0) }) { return nil }
    if code.contains(UInt8(ascii: "=")), code.count % 4 != 0 { return nil }
    return code.withUnsafeBytes { bytes(of: $0) }
  }
}

/// A line that names a record, and may hold it: a row as lists print them, the address of a
/// record, or its key alone.
public struct RecordRow: Sendable {
  /// Whose; nil where the line does not say.
  public let repository: Repository?
  /// Where; nil where the line does not say.
  public let collection: NSID?
  /// Under which key.
  public let key: RecordKey
  /// What it was called when the row was read.
  public let cid: CID?
  /// The record, one JSON value; nil where the line has none.
  public let value: [UInt8]?

  /// The address of a record.
  public init?(_ uri: ATURI) {
    guard let collection = uri.collection, let key = uri.key else { return nil }
    self.init(uri.repository, collection, key)
  }

  /// A record by its name.
  public init(_ repository: Repository?, _ collection: NSID?, _ key: RecordKey) {
    (self.repository, self.collection, self.key) = (repository, collection, key)
    (cid, value) = (nil, nil)
  }

  /// Reads a line: an object with `uri` or `rkey`, perhaps `cid` and `value`; or a text, which is
  /// an AT URI or a key.
  public init(_ line: UnsafeRawBufferPointer) throws(Failure) {
    let isBlank = { (byte: UInt8) in byte == 32 || (9...13).contains(byte) }
    let start = line.firstIndex { !isBlank($0) } ?? line.count
    let end = line.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? start
    let line = UnsafeRawBufferPointer(rebasing: line[start..<end])
    let word = String(decoding: line, as: UTF8.self)
    guard word.hasPrefix("{") else {
      if let row = try Self.named(word) {
        self = row
        return
      }
      throw Failure("neither an AT URI nor a record key")
    }
    if let (fault, offset) = ScanValidator.firstFault(line) {
      throw Failure("\(fault.reason) at byte \(offset)")
    }
    let member = { (name: String) -> ScanValue? in
      let value = (try? ScanMembers.value(of: name, in: line)) ?? ScanValue.absent
      return value.isNull ? nil : value
    }
    let text = { (name: String) in member(name).flatMap { $0.isString ? $0.string : nil } }
    guard let name = text("uri") ?? text("rkey") else {
      throw Failure("an object without uri and rkey")
    }
    guard let row = try Self.named(name) else {
      throw Failure("neither an AT URI nor a record key: \(name.prefix(80))")
    }
    (repository, collection, key) = (row.repository, row.collection, row.key)
    value = member("value").map { Array($0.bytes) }
    cid = text("cid").flatMap { CID($0) }
    if cid == nil, member("cid") != nil { throw Failure("its cid is not a CID") }
  }

  private static func named(_ name: String) throws(Failure) -> RecordRow? {
    if name.hasPrefix("at:") {
      guard let uri = ATURI(name), let row = RecordRow(uri) else {
        throw Failure("not the AT URI of a record: \(name.prefix(80))")
      }
      return row
    }
    return RecordKey(name).map { RecordRow(nil, nil, $0) }
  }
}
