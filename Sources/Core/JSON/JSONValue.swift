import CJansson

/// One JSON value, read with jansson; never changes after it was read.
///
/// A value is a pointer into the tree of its record together with the owner of
/// that tree, so taking a member copies nothing and no member outlives its
/// record. Members keep the order of the text; of members with one name the
/// last counts, as in RFC 8259's reference implementations.
public struct JSONValue: Sendable {
  /// What a value is.
  public enum Kind: Sendable {
    case null, bool, integer, real, string, array, object
  }

  /// Keeps jansson's reference to the root; the tree is only read.
  final class Tree: @unchecked Sendable {
    let root: UnsafeMutablePointer<json_t>
    /// What stood at the ends of its strings where these hold U+FFFD now.
    let halves: Halves

    init(owning root: UnsafeMutablePointer<json_t>, _ halves: Halves = Halves()) {
      (self.root, self.halves) = (root, halves)
    }

    deinit { cjansson_decref(root) }
  }

  private let tree: Tree
  nonisolated(unsafe) private let node: UnsafeMutablePointer<json_t>

  private init(tree: Tree, node: UnsafeMutablePointer<json_t>) {
    (self.tree, self.node) = (tree, node)
  }

  init(tree: Tree) {
    self.init(tree: tree, node: tree.root)
  }

  var halves: Halves { tree.halves }

  /// Calls jansson while the tree is certainly alive: the optimizer may end
  /// the life of `tree` after its last use, so a pointer would dangle.
  private func read<Result>(_ body: (UnsafeMutablePointer<json_t>) -> Result) -> Result {
    withExtendedLifetime(tree) { body(node) }
  }

  /// What this value is.
  public var kind: Kind {
    switch json_type(UInt32(read { cjansson_typeof($0) })) {
    case JSON_OBJECT: .object
    case JSON_ARRAY: .array
    case JSON_STRING: .string
    case JSON_INTEGER: .integer
    case JSON_REAL: .real
    case JSON_TRUE, JSON_FALSE: .bool
    default: .null
    }
  }

  /// Whether this is `null`.
  public var isNull: Bool { kind == .null }

  /// Whether this is an object.
  public var isObject: Bool { kind == .object }

  /// A time of RFC 3339; nil for anything else.
  public var time: Timestamp? { string.flatMap { Timestamp(rfc3339: $0) } }

  /// The text of a string, else nil. It may hold NUL.
  public var string: String? {
    withBytes { String(decoding: $0, as: UTF8.self) }
  }

  /// The beginning of a string, at most so many bytes of UTF-8 and never half a
  /// scalar; nil when this is not a string. For text that may be huge and is to be
  /// seen in part.
  public func string(bytes limit: Int) -> String? {
    withBytes { bytes in
      var end = min(max(limit, 0), bytes.count)
      while end > 0, end < bytes.count, bytes[end] & 0xc0 == 0x80 { end -= 1 }
      return String(decoding: bytes[..<end], as: UTF8.self)
    }
  }

  /// Reads the bytes of a string where they lie; nil when this is not a string or
  /// the reader says so.
  public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result?) -> Result? {
    guard kind == .string else { return nil }
    return read { node in
      body(UnsafeRawBufferPointer(start: json_string_value(node), count: json_string_length(node)))
    }
  }

  /// The bytes of UTF-8 that a string holds; 0 for anything else.
  public var byteCount: Int {
    kind == .string ? read { json_string_length($0) } : 0
  }

  /// The value of `true` or `false`, else nil.
  public var bool: Bool? {
    guard kind == .bool else { return nil }
    return read { json_type(UInt32(cjansson_typeof($0))) == JSON_TRUE }
  }

  /// A number written without fraction and exponent, else nil.
  public var integer: Int64? {
    kind == .integer ? read { Int64(json_integer_value($0)) } : nil
  }

  /// Any number as the nearest double, always finite; a string that holds
  /// nothing but a number counts too, since senders differ. Else nil.
  public var number: Double? {
    switch kind {
    case .integer, .real: return read { json_number_value($0) }
    case .string:
      guard let text = string, let first = text.utf8.first,
        first == 0x2d || (0x30...0x39).contains(first), let value = Double(text), value.isFinite
      else { return nil }
      return value
    default: return nil
    }
  }

  /// A string's text, or a number's or truth value's spelling; nil for null,
  /// arrays and objects. For ids and labels that senders type differently.
  public var text: String? {
    switch kind {
    case .string: string
    case .integer: integer.map { String($0) }
    case .real: number.map { String($0) }
    case .bool: bool == true ? "true" : "false"
    case .null, .array, .object: nil
    }
  }

  /// The number of members or elements; 0 for anything else.
  public var count: Int {
    switch kind {
    case .array: read { json_array_size($0) }
    case .object: read { json_object_size($0) }
    default: 0
    }
  }

  /// A member of an object; nil when there is none or this is no object. A
  /// member that is `null` is a value.
  public subscript(name: String) -> JSONValue? {
    read { json_object_get($0, name) }.map { JSONValue(tree: tree, node: $0) }
  }

  /// The first member with one of these names that is there and not null.
  public subscript(either names: String...) -> JSONValue? {
    for name in names {
      if let member = self[name], !member.isNull { return member }
    }
    return nil
  }

  /// One element of an array; nil when there is none or this is no array.
  public func element(_ index: Int) -> JSONValue? {
    guard kind == .array, index >= 0 else { return nil }
    return read { json_array_get($0, index) }.map { JSONValue(tree: tree, node: $0) }
  }

  /// The elements of an array, empty for anything else.
  public var elements: [JSONValue] {
    (0..<(kind == .array ? count : 0)).compactMap { index in
      read { json_array_get($0, index) }.map { JSONValue(tree: tree, node: $0) }
    }
  }

  /// The members of an object in the order of the text, empty for anything else.
  public var members: [(name: String, value: JSONValue)] {
    guard kind == .object else { return [] }
    return read { node in
      var found: [(name: String, value: JSONValue)] = []
      found.reserveCapacity(json_object_size(node))
      var iterator = json_object_iter(node)
      while let current = iterator {
        if let name = json_object_iter_key(current), let value = json_object_iter_value(current) {
          found.append((String(cString: name), JSONValue(tree: tree, node: value)))
        }
        iterator = json_object_iter_next(node, current)
      }
      return found
    }
  }
}
