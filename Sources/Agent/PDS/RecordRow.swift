public import Core

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
