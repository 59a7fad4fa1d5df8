import CLibc

/// The members of one object that a wire has, by their names. A decoder keeps one of each kind, so
/// that reading the next object takes no memory.
public struct ScanFields<Name: ScanName> {
  @usableFromInline var values = [ScanValue](repeating: .absent, count: Name.allCases.count)

  @inlinable public init() {}

  /// Reads an object; what is behind a fault in it is absent.
  @inlinable public init(_ object: UnsafeRawBufferPointer) { try? read(object) }

  /// Reads an object instead of the one before; what is read is valid as long as its bytes are. Of
  /// members of the same name the last one counts.
  ///
  /// - Throws: `ScanFault` where it is none; what stands before the fault was read.
  @inlinable
  public mutating func read(_ object: UnsafeRawBufferPointer) throws(ScanFault) {
    for index in values.indices { values[index] = .absent }
    var members = try ScanMembers(object)
    while try members.next() {
      if let name = Name.table[members.key] { values[name.rawValue] = members.value }
    }
  }

  /// Absent for a member that is not there.
  @inlinable public subscript(name: Name) -> ScanValue { values[name.rawValue] }

  /// The first of two that is there.
  @inlinable
  public subscript(name: Name, or other: Name) -> ScanValue {
    self[name].isAbsent ? self[other] : self[name]
  }
}

/// The names of a wire's members: cases that are spelled as on the wire, numbered from 0.
public protocol ScanName: CaseIterable, RawRepresentable, Sendable where RawValue == Int {
  /// Made once for each type: a `static let`.
  static var table: NameTable<Self> { get }
}

/// Tells the names of members, or words, from each other without making texts of them. A table is
/// made once and stays for good: keep it in a `static let`.
public struct NameTable<Name: Sendable>: @unchecked Sendable {
  @usableFromInline struct Entry {
    @usableFromInline var text: UnsafeMutablePointer<UInt8>
    @usableFromInline var name: Name
  }

  /// By the length of the text; never changed once it is made.
  @usableFromInline let entries: UnsafeMutablePointer<Entry>
  /// Where the texts of a length begin, and behind the last one.
  @usableFromInline let starts: UnsafeMutablePointer<Int>
  @usableFromInline let longest: Int

  /// - Parameter names: the texts, of plain ASCII, and what they mean.
  public init(_ names: [(String, Name)]) {
    longest = names.map(\.0.utf8.count).max() ?? 0
    entries = .allocate(capacity: names.count)
    starts = .allocate(capacity: longest + 2)
    var count = 0
    for length in 0...longest {
      (starts + length).initialize(to: count)
      for (text, name) in names where text.utf8.count == length {
        let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(length, 1))
        _ = bytes.initialize(from: text.utf8)
        (entries + count).initialize(to: Entry(text: bytes.baseAddress!, name: name))
        count += 1
      }
    }
    (starts + longest + 1).initialize(to: count)
  }

  /// What a key means, its bytes between its quotes; nil for one that is not in the table.
  @inlinable
  public subscript(key: ScanValue) -> Name? {
    if let name = find(UnsafeRawBufferPointer(start: key.start, count: key.count)) { return name }
    guard key.holdsEscape else { return nil }
    var text = key.unescaped
    return text.withUTF8 { find(UnsafeRawBufferPointer($0)) }
  }

  /// What a string means; nil for one that is not in the table, and for what is no string.
  @inlinable
  public func word(_ value: ScanValue) -> Name? {
    value.isString ? self[ScanValue(start: value.start + 1, count: value.count - 2)] : nil
  }

  /// Whether some bytes are those of a text.
  @usableFromInline
  func areEqual(
    _ bytes: UnsafeRawPointer, _ text: UnsafeMutablePointer<UInt8>, _ count: Int
  ) -> Bool {
    memcmp(bytes, text, count) == 0
  }

  @inlinable
  func find(_ text: UnsafeRawBufferPointer) -> Name? {
    guard text.count <= longest, let start = text.baseAddress else { return nil }
    for index in starts[text.count]..<starts[text.count + 1]
    where areEqual(start, entries[index].text, text.count) {
      return entries[index].name
    }
    return nil
  }
}

extension ScanValue {
  @usableFromInline var holdsEscape: Bool { count > 0 && memchr(start, 0x5c, count) != nil }
}

extension NameTable where Name: CaseIterable {
  /// The cases of an enumeration, whose own names are the texts.
  ///
  /// - Parameter inSnakeCase: whether each is also known as `turn_id` where it is `turnId`, as
  ///   messages of Protocol Buffers may be spelled in JSON.
  public init(inSnakeCase: Bool = false) {
    self.init(
      Name.allCases.flatMap { name in
        let text = String(describing: name)
        var snake = ""
        for letter in text { snake += letter.isUppercase ? "_\(letter.lowercased())" : "\(letter)" }
        return inSnakeCase && snake != text ? [(text, name), (snake, name)] : [(text, name)]
      })
  }
}
