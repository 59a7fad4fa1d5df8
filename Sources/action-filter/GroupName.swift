import Core

/// The values of the keys of a group, one behind the other as the name of the group.
enum GroupName {
  /// One of them.
  enum Value: Comparable {
    case text([UInt8])
    case time(Int64)
    /// What has none is behind all that have one.
    case none

    /// When a bucket begins, in seconds since 1970.
    var seconds: Int64? { if case .time(let seconds) = self { seconds } else { nil } }

    /// As a record has it.
    var text: String? {
      switch self {
      case .text(let bytes): String(decoding: bytes, as: UTF8.self)
      case .time(let seconds): Timestamp(seconds: seconds).rfc3339
      case .none: nil
      }
    }

    static func < (a: Value, b: Value) -> Bool {
      switch (a, b) {
      case (.text(let one), .text(let other)): one.lexicographicallyPrecedes(other)
      case (.time(let one), .time(let other)): one < other
      case (.none, _): false
      default: true
      }
    }
  }

  // A byte that says what follows, then a time or a length, eight bytes either.
  private static let none: UInt8 = 0
  private static let text: UInt8 = 1
  private static let time: UInt8 = 2

  /// Adds a text, or that there is none.
  static func append(_ value: (some Collection<UInt8>)?, to name: inout [UInt8]) {
    guard let value else { return name.append(none) }
    name.append(text)
    append(UInt64(value.count), to: &name)
    name.append(contentsOf: value)
  }

  /// Adds a time, or that there is none.
  static func append(_ seconds: Int64?, to name: inout [UInt8]) {
    guard let seconds else { return name.append(none) }
    name.append(time)
    append(UInt64(bitPattern: seconds), to: &name)
  }

  private static func append(_ word: UInt64, to name: inout [UInt8]) {
    withUnsafeBytes(of: word) { name.append(contentsOf: $0) }
  }

  /// The only value of a name that is not made of several.
  static func value(_ name: [UInt8]?) -> Value { name.map { .text($0) } ?? .none }

  /// The values that a name was made of.
  static func values(_ name: [UInt8]?) -> [Value] {
    var values: [Value] = []
    var rest = (name ?? [])[...]
    while let mark = rest.popFirst() {
      if mark == none {
        values.append(.none)
        continue
      }
      let word = rest.prefix(8).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
      rest = rest.dropFirst(8)
      if mark == time {
        values.append(.time(Int64(bitPattern: word)))
      } else {
        values.append(.text(Array(rest.prefix(Int(word)))))
        rest = rest.dropFirst(Int(word))
      }
    }
    return values
  }
}
