import CJansson

extension JSONValue {
  /// How deep objects and arrays may be nested in a value that is parsed, by jansson.
  public static let deepest = 2048

  /// Reads one JSON value (RFC 8259), leniently where a strict reader would
  /// lose a good record:
  /// - invalid UTF-8 becomes U+FFFD, as does the `\u` escape of half a
  ///   surrogate pair, which is what a text cut at so many UTF-16 units ends in;
  /// - `\u0000` is kept in a value and becomes U+FFFD in a name;
  /// - a number too large for 63 bits or for a double becomes a string of its
  ///   digits, so that an id stays exact.
  ///
  /// - Parameter bytes: the whole value, white space around it allowed.
  /// - Throws: `Failure`; nesting beyond jansson's 2048 levels is one.
  public static func parse(_ bytes: UnsafeRawBufferPointer) throws(Failure) -> JSONValue {
    var fault = json_error_t()
    if let root = load(bytes, &fault) { return JSONValue(tree: Tree(owning: root)) }
    let code = json_error_code(&fault)
    let position = Int(fault.position)
    guard code != json_error_stack_overflow, code != json_error_out_of_memory else {
      throw Failure(code == json_error_stack_overflow ? "nested too deep" : "out of memory")
    }
    if let (repaired, halves) = repair(bytes) {
      if let root = repaired.withUnsafeBytes({ load($0, &fault) }) {
        return JSONValue(tree: Tree(owning: root, halves))
      }
      if json_error_code(&fault) == json_error_stack_overflow { throw Failure("nested too deep") }
    }
    throw Failure(
      code == json_error_premature_end_of_input
        ? "unfinished JSON" : "invalid JSON at byte \(max(position, 1))")
  }

  /// The value that bytes hold, see `parse(_:)`; nil where that is none.
  public init?(_ bytes: [UInt8]) {
    guard let value = try? Self.parse(bytes) else { return nil }
    self = value
  }

  /// Reads an array, see `parse(_:)`.
  public static func parse(_ bytes: [UInt8]) throws(Failure) -> JSONValue {
    try bytes.withUnsafeBufferPointer { bytes throws(Failure) in
      try parse(UnsafeRawBufferPointer(bytes))
    }
  }

  /// Reads a text, see `parse(_:)`.
  public static func parse(text: String) throws(Failure) -> JSONValue {
    try parse(Array(text.utf8))
  }

  private static func load(
    _ bytes: UnsafeRawBufferPointer, _ fault: inout json_error_t
  ) -> UnsafeMutablePointer<json_t>? {
    let flags = Int(JSON_DECODE_ANY) | Int(JSON_ALLOW_NUL)
    // An empty buffer has no address, and jansson refuses a null pointer.
    guard let start = bytes.baseAddress else { return json_loadb("", 0, flags, &fault) }
    return json_loadb(start.assumingMemoryBound(to: CChar.self), bytes.count, flags, &fault)
  }
}

extension JSONValue {
  /// Rewrites what jansson refuses although the record is good; see `parse(_:)`
  /// for the list. Everything else is copied as it is, faults included. Returns the new text, and
  /// the halves of characters at the ends of strings; nil when there was nothing to rewrite.
  static func repair(_ bytes: UnsafeRawBufferPointer) -> (text: [UInt8], halves: Halves)? {
    var repair = JSONRepair(text: Array(String(decoding: bytes, as: UTF8.self).utf8))
    repair.run()
    return bytes.elementsEqual(repair.output) ? nil : (repair.output, repair.halves)
  }
}

private struct JSONRepair {
  let text: [UInt8]
  var output: [UInt8] = []
  /// Those of the last string that has any: a piece of a text stands alone in its record, or
  /// beside all of the text, which ends as it does.
  var halves = Halves()
  private var at = 0

  init(text: [UInt8]) {
    self.text = text
    output.reserveCapacity(text.count + 64)
  }

  mutating func run() {
    while at < text.count {
      switch text[at] {
      case UInt8(ascii: "\""): copyString()
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): copyNumber()
      default:
        output.append(text[at])
        at += 1
      }
    }
  }

  private mutating func copyString() {
    var end = at + 1
    while end < text.count, text[end] != UInt8(ascii: "\"") {
      end += text[end] == UInt8(ascii: "\\") ? 2 : 1
    }
    end = min(end, text.count)
    let isName = isColon(after: end + 1)
    if !isName {
      let found = text.withUnsafeBytes { Halves(of: $0[at..<end].dropFirst()) }
      halves.low = found.low ?? halves.low
      halves.high = found.high ?? halves.high
    }
    while at < end {
      guard text[at] == UInt8(ascii: "\\"), let unit = escapedUnit(at) else {
        let length = text[at] == UInt8(ascii: "\\") ? 2 : 1
        output.append(contentsOf: text[at..<min(at + length, end)])
        at += length
        continue
      }
      copyEscape(unit, isName: isName)
    }
    at = end
    if at < text.count {
      output.append(text[at])
      at += 1
    }
  }

  private mutating func copyEscape(_ unit: UInt32, isName: Bool) {
    let isHigh = (0xd800...0xdbff).contains(unit)
    if isHigh, let next = escapedUnit(at + 6), (0xdc00...0xdfff).contains(next) {
      output.append(contentsOf: text[at..<at + 12])
      at += 12
    } else {
      let isHalf = (0xd800...0xdfff).contains(unit)
      output += isHalf || unit == 0 && isName ? Array("\\ufffd".utf8)[...] : text[at..<at + 6]
      at += 6
    }
  }

  private func escapedUnit(_ index: Int) -> UInt32? {
    text.withUnsafeBufferPointer { text in
      guard let start = text.baseAddress, index < text.count else { return nil }
      return ScanString.hexUnit(start + index, start + text.count)
    }
  }

  private mutating func copyNumber() {
    let start = at
    while at < text.count, "0123456789-+.eE".utf8.contains(text[at]) { at += 1 }
    let token = text[start..<at]
    let quote = isTooLarge(token) && !isColon(after: at) ? [UInt8(ascii: "\"")] : []
    output += quote + token + quote
  }

  /// Whether a token is a number by the grammar, yet more than jansson holds.
  private func isTooLarge(_ token: ArraySlice<UInt8>) -> Bool {
    guard token.withUnsafeBytes({ ScanNumber($0) != nil }) else { return false }
    let spelling = String(decoding: token, as: UTF8.self)
    if token.contains(where: { ".eE".utf8.contains($0) }) {
      return Double(spelling)?.isInfinite == true
    }
    return Int64(spelling) == nil
  }

  private func isColon(after index: Int) -> Bool {
    var index = index
    while index < text.count, [0x20, 0x09, 0x0a, 0x0d].contains(text[index]) { index += 1 }
    return index < text.count && text[index] == UInt8(ascii: ":")
  }
}
