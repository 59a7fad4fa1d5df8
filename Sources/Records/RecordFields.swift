import CLibc
public import Core

/// The members of one record of our own, read by their names.
///
/// What they hold points into the record and is valid as long as its bytes are. Of
/// members with one name the last counts; null is the same as a member that is missing.
public struct RecordFields {
  /// Why a record cannot be read.
  public struct Fault: Error, Equatable, Sendable {
    /// Lower case, no full stop; nothing of the record itself.
    public let reason: String
    /// Whether the record may be sound and is only newer than this reader: it has a word
    /// that is not known. Such a record is passed over and is no bad input.
    public let isNews: Bool

    init(_ reason: String, isNews: Bool = false) {
      (self.reason, self.isNews) = (reason, isNews)
    }

    init(missing name: StaticString) { self.init("has no \(name)") }
  }

  private var members: [(key: ScanValue, value: ScanValue)] = []

  /// - Parameter object: one JSON object.
  /// - Throws: a `Fault` when it is not one.
  public init(_ object: UnsafeRawBufferPointer) throws(Fault) {
    do throws(ScanFault) {
      try ScanValidator.validate(object)
      var walk = try ScanMembers(object)
      members.reserveCapacity(20)
      while try walk.next() { members.append((walk.key, walk.value)) }
    } catch {
      throw Fault(error.reason)
    }
  }

  /// The value of a member; nil when it is missing or null.
  public subscript(name: StaticString) -> ScanValue? {
    let found = members.last { member in
      member.key.count == name.utf8CodeUnitCount
        && memcmp(member.key.start, name.utf8Start, member.key.count) == 0
    }
    guard let value = found?.value, !value.isNull else { return nil }
    return value
  }

  /// What a member is; nil when it is missing.
  ///
  /// - Parameter fault: what is wrong with one of which that is nil.
  private func value<Value>(
    _ name: StaticString, _ fault: String, isNews: Bool = false, _ read: (ScanValue) -> Value?
  ) throws(Fault) -> Value? {
    guard let member = self[name] else { return nil }
    guard let value = read(member) else {
      throw Fault("the member \(name) \(fault)", isNews: isNews)
    }
    return value
  }

  /// A string; nil when it is missing.
  public func string(_ name: StaticString) throws(Fault) -> String? {
    try value(name, "is not a string") { $0.isString ? $0.string : nil }
  }

  /// A string that has to be there.
  public func required(_ name: StaticString) throws(Fault) -> String {
    guard let text = try string(name) else { throw Fault(missing: name) }
    return text
  }

  /// One of some words; nil when it is missing.
  public func word<Word: RawRepresentable<String>>(_ name: StaticString) throws(Fault) -> Word? {
    guard let text = try string(name) else { return nil }
    return try value(name, "is not a word that is known", isNews: true) { _ in
      Word(rawValue: text)
    }
  }

  /// One of some words, which has to be there.
  public func requiredWord<Word: RawRepresentable<String>>(
    _ name: StaticString
  ) throws(Fault) -> Word {
    guard let word: Word = try word(name) else { throw Fault(missing: name) }
    return word
  }

  /// A whole number; nil when it is missing.
  public func integer(_ name: StaticString) throws(Fault) -> Int? {
    try value(name, "is not a whole number") { value in
      let text = value.isNumber ? value.string : nil
      return text.flatMap { Int($0) ?? Double($0).flatMap { Int(exactly: $0) } }
    }
  }

  /// A number; nil when it is missing.
  public func number(_ name: StaticString) throws(Fault) -> Double? {
    try value(name, "is not a number") { value in
      value.isNumber ? value.string.flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil } : nil
    }
  }

  /// True or false; nil when it is missing.
  public func bool(_ name: StaticString) throws(Fault) -> Bool? {
    try value(name, "is neither true nor false") { value in
      value.isWord("true") ? true : value.isWord("false") ? false : nil
    }
  }

  /// A time of RFC 3339; nil when it is missing.
  public func time(_ name: StaticString = "time") throws(Fault) -> Timestamp? {
    guard let text = try string(name) else { return nil }
    return try value(name, "is not a time of RFC 3339") { _ in Timestamp(rfc3339: text) }
  }

  /// A JSON value with the bytes that it has; nil when it is missing.
  public func json(_ name: StaticString) -> [UInt8]? { self[name].map { Array($0.bytes) } }

  /// The elements of an array; nil when it is missing.
  public func list<Element>(
    _ name: StaticString, of element: (ScanValue) throws(Fault) -> Element
  ) throws(Fault) -> [Element]? {
    let walk = try value(name, "is not an array") { value in
      value.isArray ? try? ScanElements(value.bytes) : nil
    }
    guard var walk else { return nil }
    var elements: [Element] = []
    while (try? walk.next()) == true { elements.append(try element(walk.value)) }
    return elements
  }

  /// An array of strings; nil when it is missing.
  public func strings(_ name: StaticString) throws(Fault) -> [String]? {
    try list(name) { value throws(Fault) in
      guard value.isString, let text = value.string else {
        throw Fault("the member \(name) has an element that is not a string")
      }
      return text
    }
  }

  /// The members of an object; nil when it is missing.
  public func object(_ name: StaticString) throws(Fault) -> RecordFields? {
    let object = try value(name, "is not an object") { $0.isObject ? $0 : nil }
    return if let object { try RecordFields(object.bytes) } else { nil }
  }

  /// Whose record it is.
  public func origin() throws(Fault) -> RecordOrigin {
    RecordOrigin(try requiredWord("backend"), profile: try string("profile"))
  }
}
