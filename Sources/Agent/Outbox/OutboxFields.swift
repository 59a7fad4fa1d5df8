import Core

struct OutboxFields {
  private let line: UnsafeRawBufferPointer

  init(_ line: UnsafeRawBufferPointer) throws(Failure) {
    if let (fault, offset) = ScanValidator.firstFault(line) {
      throw Failure("\(fault.reason) at byte \(offset)")
    }
    guard UTF8Text.isValid(line) else { throw Failure("not UTF-8") }
    guard line.first == UInt8(ascii: "{") else { throw Failure("not an object") }
    self.line = line
  }

  func value(_ name: String) -> ScanValue? {
    let value = (try? ScanMembers.value(of: name, in: line)) ?? .absent
    return value.isAbsent ? nil : value
  }

  func object(_ name: String) -> ScanValue? { value(name).flatMap { $0.isObject ? $0 : nil } }

  func text(_ name: String) throws(Failure) -> String? {
    guard let value = value(name), !value.isNull else { return nil }
    guard value.isString, let text = value.string else {
      throw Failure("\(name) is not a string")
    }
    return text
  }

  func texts(_ name: String) -> [String] {
    guard let value = value(name), value.isArray, var scan = try? ScanElements(value.bytes) else {
      return []
    }
    var found: [String] = []
    while (try? scan.next()) == true {
      if scan.value.isString, let text = scan.value.string { found.append(text) }
    }
    return found
  }

  func elements(_ name: String) -> [[UInt8]] {
    guard let value = value(name), value.isArray, var scan = try? ScanElements(value.bytes) else {
      return []
    }
    var found: [[UInt8]] = []
    while (try? scan.next()) == true { found.append(Array(scan.value.bytes)) }
    return found
  }

  /// `collection` and `rkey`, and `repo` where somebody has yet to say whose that is.
  func place() throws(Failure) -> RecordPlace {
    guard let collection = try text("collection").flatMap({ NSID($0) }) else {
      throw Failure("collection is not the name of a collection")
    }
    guard let key = try text("rkey").flatMap({ RecordKey($0) }) else {
      throw Failure("rkey is not a record key")
    }
    let name = try text("repo")
    let owner = name.flatMap { Repository($0) }
    if owner == nil, name != nil { throw Failure("repo is neither a DID nor a handle") }
    return RecordPlace(collection, key, of: owner)
  }

  /// `base`: missing where it is not known, null where there was none.
  func base() throws(Failure) -> RecordSwap {
    guard let value = value("base") else { return .any }
    if value.isNull { return .absent }
    guard value.isString, let cid = value.string.flatMap({ CID($0) }) else {
      throw Failure("base is neither a CID nor null")
    }
    return .cid(cid)
  }
}
