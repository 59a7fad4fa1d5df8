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

  /// A string; nil when it is missing.
  public func string(_ name: StaticString) throws(Fault) -> String? {
    guard let value = self[name] else { return nil }
    guard value.isString, let text = value.string else {
      throw Fault("\(Self.member(name)) is not a string")
    }
    return text
  }

  /// A string that has to be there.
  public func required(_ name: StaticString) throws(Fault) -> String {
    guard let text = try string(name) else { throw Fault(missing: name) }
    return text
  }

  /// One of some words; nil when it is missing.
  public func word<Word: RawRepresentable<String>>(_ name: StaticString) throws(Fault) -> Word? {
    guard let text = try string(name) else { return nil }
    guard let word = Word(rawValue: text) else {
      throw Fault("\(Self.member(name)) is not a word that is known", isNews: true)
    }
    return word
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
    guard let value = self[name] else { return nil }
    guard value.isNumber, let text = value.string,
      let number = Int(text) ?? Double(text).flatMap({ Int(exactly: $0) })
    else { throw Fault("\(Self.member(name)) is not a whole number") }
    return number
  }

  /// A number; nil when it is missing.
  public func number(_ name: StaticString) throws(Fault) -> Double? {
    guard let value = self[name] else { return nil }
    guard value.isNumber, let number = value.string.flatMap({ Double($0) }), number.isFinite
    else { throw Fault("\(Self.member(name)) is not a number") }
    return number
  }

  /// True or false; nil when it is missing.
  public func bool(_ name: StaticString) throws(Fault) -> Bool? {
    guard let value = self[name] else { return nil }
    guard value.isText(bare: "true") || value.isText(bare: "false") else {
      throw Fault("\(Self.member(name)) is neither true nor false")
    }
    return value.isText(bare: "true")
  }

  /// A time of RFC 3339; nil when it is missing.
  public func time(_ name: StaticString = "time") throws(Fault) -> Timestamp? {
    guard let text = try string(name) else { return nil }
    guard let time = Timestamp(rfc3339: text) else {
      throw Fault("\(Self.member(name)) is not a time of RFC 3339")
    }
    return time
  }

  /// A JSON value with the bytes that it has; nil when it is missing.
  public func json(_ name: StaticString) -> [UInt8]? { self[name].map { Array($0.bytes) } }

  /// The elements of an array; nil when it is missing.
  public func list<Element>(
    _ name: StaticString, of element: (ScanValue) throws(Fault) -> Element
  ) throws(Fault) -> [Element]? {
    guard let value = self[name] else { return nil }
    guard value.isArray, var walk = try? ScanElements(value.bytes) else {
      throw Fault("\(Self.member(name)) is not an array")
    }
    var elements: [Element] = []
    while (try? walk.next()) == true { elements.append(try element(walk.value)) }
    return elements
  }

  /// An array of strings; nil when it is missing.
  public func strings(_ name: StaticString) throws(Fault) -> [String]? {
    try list(name) { value throws(Fault) in
      guard value.isString, let text = value.string else {
        throw Fault("\(Self.member(name)) has an element that is not a string")
      }
      return text
    }
  }

  /// The members of an object; nil when it is missing.
  public func object(_ name: StaticString) throws(Fault) -> RecordFields? {
    guard let value = self[name] else { return nil }
    guard value.isObject else { throw Fault("\(Self.member(name)) is not an object") }
    return try RecordFields(value.bytes)
  }

  /// Whose record it is.
  public func origin() throws(Fault) -> RecordOrigin {
    RecordOrigin(try requiredWord("backend"), profile: try string("profile"))
  }

  private static func member(_ name: StaticString) -> String { "the member \(name)" }
}

extension ScanValue {
  fileprivate func isText(bare word: StaticString) -> Bool {
    count == word.utf8CodeUnitCount && memcmp(start, word.utf8Start, count) == 0
  }
}
