import CLibc
import Core

/// The values of the keys of a group, one behind the other as the name of the group.
enum GroupName {
  /// One of them, valid as long as the name is.
  enum Value {
    case text(UnsafeRawBufferPointer)
    case time(Int64)
    /// What has none is behind all that have one.
    case none

    /// When a bucket begins, in seconds since 1970.
    var seconds: Int64? { if case .time(let seconds) = self { seconds } else { nil } }

    var text: String? {
      switch self {
      case .text(let bytes): String(decoding: bytes, as: UTF8.self)
      case .time(let seconds): Timestamp(seconds: seconds).rfc3339
      case .none: nil
      }
    }

    /// Below 0 where it comes before another one, above 0 where it comes after it.
    func compare(_ other: Value) -> Int {
      switch (self, other) {
      case (.text(let one), .text(let two)):
        let size = min(one.count, two.count)
        if size > 0, let one = one.baseAddress, let two = two.baseAddress {
          let order = memcmp(one, two, size)
          if order != 0 { return Int(order) }
        }
        return one.count - two.count
      case (.time(let one), .time(let two)): return one == two ? 0 : one < two ? -1 : 1
      case (.none, .none): return 0
      case (.none, _): return 1
      default: return -1
      }
    }
  }

  // A byte that says what follows, then a time or a length, eight bytes either.
  private static let none: UInt8 = 0
  private static let text: UInt8 = 1
  private static let time: UInt8 = 2

  static func append(_ value: (some Collection<UInt8>)?, to name: inout [UInt8]) {
    guard let value else { return name.append(none) }
    name.append(text)
    append(UInt64(value.count), to: &name)
    name.append(contentsOf: value)
  }

  static func append(_ seconds: Int64?, to name: inout [UInt8]) {
    guard let seconds else { return name.append(none) }
    name.append(time)
    append(UInt64(bitPattern: seconds), to: &name)
  }

  private static func append(_ word: UInt64, to name: inout [UInt8]) {
    withUnsafeBytes(of: word) { name.append(contentsOf: $0) }
  }

  struct Values: Sequence, IteratorProtocol {
    private var rest: UnsafeRawBufferPointer?
    private let isPlain: Bool
    private var isDone = false

    init(_ name: UnsafeRawBufferPointer?, isPlain: Bool) { (rest, self.isPlain) = (name, isPlain) }

    mutating func next() -> Value? {
      if isDone { return nil }
      if isPlain {
        isDone = true
        return rest.map { .text($0) } ?? Value.none
      }
      guard let mark = rest?.first else { return nil }
      pass(1)
      if mark == GroupName.none { return Value.none }
      let word = rest?.loadUnaligned(as: UInt64.self) ?? 0
      pass(8)
      if mark == GroupName.time { return .time(Int64(bitPattern: word)) }
      let text = rest.map { UnsafeRawBufferPointer(rebasing: $0.prefix(Int(word))) }
      pass(Int(word))
      return text.map { .text($0) }
    }

    private mutating func pass(_ count: Int) {
      rest = rest.map { UnsafeRawBufferPointer(rebasing: $0.dropFirst(count)) }
    }
  }
}
