import CLibc
import Core

/// What a line must hold for one of its actions to be selected: `--fast`.
///
/// Made from one option whose alternatives are all literal enough. It is a
/// necessary condition, never a sufficient one: lines that hold it are read as
/// always.
enum Prefilter {
  static func search(_ options: FilterOptions) -> LiteralSearch? {
    needles(options).map { LiteralSearch($0) }
  }

  static func needles(_ options: FilterOptions) -> [LiteralSearch.Needle]? {
    let looksAtAll =
      options.isInverted || options.passesOthers || options.isStrict || options.rejects != nil
      || options.hasNames
    guard options.isFast && !looksAtAll else { return nil }
    let predicate = options.predicate
    let indexed = predicate.indexed
    // The most telling first: messages are of one exchange, guilds of years.
    let groups: [[[LiteralSearch.Needle]?]] = [
      predicate.ids.map(\.literals), predicate.messages.map(\.literals),
      predicate.texts.map { $0.literal.map { [$0] } },
      indexed.kinds.map { $0.literal.map { [$0] } }, indexed.users.map(\.literals),
      predicate.threads.map(\.literals), indexed.channels.map(\.literals),
      indexed.guilds.map(\.literals),
    ]
    for group in groups where !group.isEmpty {
      let needles = group.compactMap(\.self)
      guard needles.count == group.count else { continue }
      let all = needles.flatMap(\.self)
      if all.count <= LiteralSearch.limit { return all }
    }
    return nil
  }

  /// The longest part of a string's text that is the same in JSON, but for
  /// `\u` escapes. Returns nil when it is shorter than two bytes.
  static func longest(
    _ runs: [[UInt8]], where isPart: (UInt8) -> Bool = { _ in true }
  ) -> [UInt8]? {
    var best: ArraySlice<UInt8> = []
    for run in runs {
      for part in run.split(whereSeparator: { !isPlain($0) || !isPart($0) })
      where part.count > best.count { best = part }
    }
    return best.count < 2 ? nil : Array(best)
  }

  /// Whether a byte of a text stands for itself in JSON, or in a `\u` escape.
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
      && byte != UInt8(ascii: "/")
  }

  /// A text with the quotes of its string; nil where it has other spellings.
  static func quoted(_ text: [UInt8]) -> [UInt8]? {
    guard !text.isEmpty, text.allSatisfy(isPlain) else { return nil }
    return [UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")]
  }
}

extension TextSearch {
  /// A part of the text that every content with it holds in plain sight.
  ///
  /// Where case does not matter it is ASCII without k and s, which fold to the
  /// same as the Kelvin sign and the long s.
  var literal: LiteralSearch.Needle? {
    if !ignoresCase { return Prefilter.longest([needle]).map { .init(bytes: $0) } }
    let part = Prefilter.longest([needle]) { byte in
      byte < 0x80 && byte != UInt8(ascii: "k") && byte != UInt8(ascii: "s")
    }
    return part.map { .init(bytes: $0, ignoresCase: true) }
  }
}

extension IDTest {
  /// What every spelling of the id has one of; nil for ids with many spellings.
  var literals: [LiteralSearch.Needle]? {
    if text.elementsEqual("true".utf8) || text.elementsEqual("false".utf8) {
      return [.init(bytes: text)]
    }
    guard text.withUnsafeBytes({ ScanNumber($0) != nil }) else {
      return Prefilter.quoted(text).map { [.init(bytes: $0)] }
    }
    // A number may have a point anywhere in its digits, and zeros behind them
    // may be in the exponent: one half of the rest is in one piece.
    guard text.allSatisfy({ $0 &- 0x30 < 10 }),
      let last = text.lastIndex(where: { $0 != 0x30 }), last >= 5
    else { return nil }
    let half = (last + 1) / 2
    return [.init(bytes: Array(text[..<half])), .init(bytes: Array(text[half...last]))]
  }
}

extension Glob {
  /// With the quote where it begins or ends the kind.
  var literal: LiteralSearch.Needle? {
    if isLiteral { return Prefilter.quoted(pattern).map { .init(bytes: $0) } }
    // Sets and backslashes are not taken apart.
    guard !pattern.contains(where: { "[\\\"/".utf8.contains($0) || $0 < 0x20 }) else { return nil }
    let quoted = [UInt8(ascii: "\"")] + pattern + [UInt8(ascii: "\"")]
    let parts = quoted.split { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
    guard let best = parts.max(by: { $0.count < $1.count }), best.count > 2 else { return nil }
    return .init(bytes: Array(best))
  }
}

/// Looks for several texts at once in whole buffers, and for the escapes that
/// may spell one of their characters.
///
/// JSON spells a character as itself or as `\u` with four digits, but for
/// quotes, backslashes, slashes and controls, which have more spellings: no
/// needle may hold one of these, unless it is a quote around a string.
final class LiteralSearch {
  struct Needle: Equatable {
    /// UTF-8; letters in lower case where their case does not matter.
    var bytes: [UInt8]
    var ignoresCase = false
  }

  static let limit = 16

  private var search = clibc_search()
  private let needles: UnsafeMutablePointer<clibc_needle>
  private let memory: UnsafeMutablePointer<UInt8>

  init(_ list: [Needle]) {
    needles = .allocate(capacity: list.count)
    memory = .allocate(capacity: list.reduce(0) { $0 + 2 * $1.bytes.count })
    var room = memory
    for (index, needle) in list.enumerated() {
      let count = needle.bytes.count
      let (first, second) = Self.rarest(needle)
      for (offset, byte) in needle.bytes.enumerated() {
        room[offset] = byte
        room[count + offset] = needle.ignoresCase && Self.isLetter(byte) ? 0x20 : 0
      }
      needles[index] = clibc_needle(
        bytes: room, fold: room + count, length: UInt32(count), first: UInt32(first),
        second: UInt32(second))
      room += 2 * count
      note(needle)
    }
    search.needles = UnsafePointer(needles)
    search.count = UInt32(list.count)
  }

  deinit {
    needles.deallocate()
    memory.deallocate()
  }

  private func note(_ needle: Needle) {
    withUnsafeMutableBytes(of: &search.escaped) { escaped in
      for byte in needle.bytes where byte < 0x80 {
        escaped[Int(byte)] = 1
        if needle.ignoresCase && Self.isLetter(byte) { escaped[Int(byte ^ 0x20)] = 1 }
      }
      guard needle.bytes.contains(where: { $0 >= 0x80 }) else { return }
      for value in 0x80..<0x100 { escaped[value] = 1 }
    }
    if needle.bytes.contains(where: { $0 >= 0x80 }) { search.wide = true }
  }

  /// Where one of them may begin; nil when there is none in these bytes.
  func find(_ bytes: UnsafeRawBufferPointer) -> Int? { find(bytes, clibc_search_find) }

  /// The same, byte by byte: what `find` must equal.
  func findPlainly(_ bytes: UnsafeRawBufferPointer) -> Int? { find(bytes, clibc_search_plain) }

  @inline(__always)
  private func find(
    _ bytes: UnsafeRawBufferPointer,
    _ kernel: (UnsafePointer<clibc_search>, UnsafePointer<UInt8>, Int) -> Int
  ) -> Int? {
    guard let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
    let position = withUnsafePointer(to: &search) { kernel($0, base, bytes.count) }
    return position < 0 ? nil : position
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

  /// From the most frequent to the seldom in lines of JSON; others are seldom.
  private static let frequent = Array(#""e taoinsr:,dc0l1_um2hp-3g456789f.Tby{}wvk"#.utf8)

  /// The two bytes of a needle that are met least.
  private static func rarest(_ needle: Needle) -> (Int, Int) {
    let order = needle.bytes.indices.sorted { a, b in
      rarity(needle.bytes[a]) > rarity(needle.bytes[b])
    }
    guard order.count > 1 else { return (order[0], order[0]) }
    // The same byte twice tells less than two different ones.
    let second = order.dropFirst().first { needle.bytes[$0] != needle.bytes[order[0]] }
    return (order[0], second ?? order[1])
  }

  private static func rarity(_ byte: UInt8) -> Int {
    frequent.firstIndex(of: byte) ?? frequent.count
  }
}
