import Core
import Records

/// The members of one JSON object with the bytes they came in, read with
/// JavaScript's eyes: what is of another type than expected is as good as
/// absent, and never a fault.
///
/// Valid as long as the bytes are.
struct ScanObject {
  private var members: [String: ScanValue] = [:]

  init() {}

  init?(_ bytes: UnsafeRawBufferPointer) {
    do throws(ScanFault) {
      var scan = try ScanMembers(bytes)
      while try scan.next() { members[scan.key.unescaped] = scan.value }
    } catch {
      return nil
    }
  }

  /// The elements of an array; nil when it is none.
  static func elements(_ bytes: UnsafeRawBufferPointer) -> [ScanValue]? {
    var values: [ScanValue] = []
    do throws(ScanFault) {
      var elements = try ScanElements(bytes)
      while try elements.next() { values.append(elements.value) }
    } catch {
      return nil
    }
    return values
  }

  /// The objects of an array; nil when it is none, or holds anything else.
  static func list(_ bytes: UnsafeRawBufferPointer) -> [ScanObject]? {
    guard let values = elements(bytes) else { return nil }
    let objects = values.compactMap { ScanObject($0.bytes) }
    return objects.count == values.count ? objects : nil
  }

  func objects(_ name: String) -> [ScanObject] {
    Self.elements(self[name].bytes)?.compactMap { ScanObject($0.bytes) } ?? []
  }

  /// The last member of a name, or absent.
  subscript(_ name: String) -> ScanValue { members[name] ?? .absent }

  /// A text, or the digits of a number; nil when empty or anything else.
  func text(_ name: String) -> String? {
    let value = self[name]
    guard value.isString || value.isNumber, let text = value.string, !text.isEmpty else {
      return nil
    }
    return text
  }

  /// `Number(value)`, where that is finite: null and an empty text are 0.
  func number(_ name: String) -> Double? {
    let value = self[name]
    if value.isAbsent || value.isObject || value.isArray { return nil }
    guard let text = value.string else { return 0 }
    switch text {
    case "true" where !value.isString: return 1
    case "false" where !value.isString: return 0
    default: break
    }
    return Double(javaScript: text)
  }

  func integer(_ name: String) -> Int? {
    guard text(name) != nil, let number = number(name), number == number.rounded() else {
      return nil
    }
    return Int(exactly: number)
  }

  /// `Boolean(value)`.
  func isTrue(_ name: String) -> Bool {
    let value = self[name]
    if value.isNull { return false }
    if value.isString { return value.bytes.count > 2 }
    if value.isNumber { return number(name) != 0 }
    return value.isObject || value.isArray || value.string == "true"
  }

  func json(_ name: String) -> String {
    let value = self[name]
    return value.isAbsent ? "null" : JSONText.oneLine(value.bytes)
  }
}

extension RecordText {
  /// Texts by the names that they have where they come from; null for those that are not there.
  func texts(_ names: String..., of text: (String) -> String?) -> RecordText {
    names.reduce(self) { $0.stringOrNull($1, text($1)) }
  }
}

/// The words for a fault that is met.
func scanned<Value>(_ body: () throws(ScanFault) -> Value) throws(Failure) -> Value {
  do throws(ScanFault) { return try body() } catch { throw Failure(error.reason) }
}

/// Hands over a body that is one JSON value, or each of its lines, with its number from 1.
func forEachRecord(of body: [UInt8], _ receive: (UnsafeRawBufferPointer, Int) -> Void) {
  body.withUnsafeBytes { bytes in
    if ScanValidator.isValue(bytes) { return receive(bytes, 1) }
    let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      receive(UnsafeRawBufferPointer(rebasing: line), index + 1)
    }
  }
}

enum JSONText {
  /// Writes a string as JSON.stringify does (ECMA-262, QuoteJSONString): quotes,
  /// backslashes and C0 are escaped, all else is UTF-8.
  static func append(_ text: String, limit: Int = .max, to out: inout [UInt8]) {
    out.append(UInt8(ascii: "\""))
    // A byte is never more than one unit.
    if text.utf8.count <= limit {
      append(bytes: text, to: &out)
    } else {
      let end = text.utf16.index(text.startIndex, offsetBy: limit, limitedBy: text.endIndex)
      let cut = (end ?? text.endIndex).samePosition(in: text.unicodeScalars)
      if let cut {
        append(bytes: String(text[..<cut]), to: &out)
      } else if let end {
        append(bytes: String(text[..<text.utf16.index(before: end)]), to: &out)
        out += "\u{fffd}".utf8
      }
    }
    out.append(UInt8(ascii: "\""))
  }

  static func quoted(_ text: String) -> String {
    var out: [UInt8] = []
    append(text, to: &out)
    return String(decoding: out, as: UTF8.self)
  }

  static func quoted(_ text: String?) -> String { text.map(quoted) ?? "null" }

  /// Leaves out line ends, which can only be white space between tokens.
  static func oneLine(_ bytes: UnsafeRawBufferPointer) -> String {
    if !bytes.contains(10) && !bytes.contains(13) { return String(decoding: bytes, as: UTF8.self) }
    return String(decoding: bytes.filter { $0 != 10 && $0 != 13 }, as: UTF8.self)
  }

  /// As JSON.stringify writes it: `2`, `0.0754904`, `4e-7`; 0 for what is not finite.
  static func number(_ value: Double) -> String { value.isFinite ? NumberText.of(value) : "0" }

  private static func append(bytes text: String, to out: inout [UInt8]) {
    var text = text
    text.withUTF8 { bytes in
      var clean = 0
      while let index = firstEscaped(bytes, from: clean) {
        out += bytes[clean..<index]
        clean = index + 1
        out += escape(bytes[index])
      }
      out += bytes[clean...]
    }
  }

  /// Where the next byte is that must be escaped: eight at a time.
  private static func firstEscaped(
    _ bytes: UnsafeBufferPointer<UInt8>, from start: Int
  ) -> Int? {
    var at = start
    let raw = UnsafeRawBufferPointer(bytes)
    while at + 8 <= raw.count {
      let word = raw.loadUnaligned(fromByteOffset: at, as: UInt64.self)
      let found = ScanCursor.specials(UInt64(littleEndian: word))
      if found != 0 { return at + (found.trailingZeroBitCount >> 3) }
      at += 8
    }
    while at < raw.count {
      let byte = raw[at]
      if byte < 0x20 || byte == 0x22 || byte == 0x5c { return at }
      at += 1
    }
    return nil
  }

  private static func escape(_ byte: UInt8) -> [UInt8] {
    switch byte {
    case 0x08: Array("\\b".utf8)
    case 0x09: Array("\\t".utf8)
    case 0x0a: Array("\\n".utf8)
    case 0x0c: Array("\\f".utf8)
    case 0x0d: Array("\\r".utf8)
    case 0x22, 0x5c: [0x5c, byte]
    default: Array("\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
    }
  }
}

/// `Number(text)` of JavaScript (ECMA-262, StringToNumber), which the dashboard
/// makes of every text that should be a number.
extension Double {
  /// Nil for what is not a number, and for what is not finite. A text of blanks is 0.
  init?(javaScript text: String) {
    let text = text.trimmingBlanks()
    let bases: [String: Double] = ["0x": 16, "0o": 8, "0b": 2]
    if text.isEmpty {
      self = 0
    } else if let base = bases[text.prefix(2).lowercased()] {
      let digits = text.utf8.dropFirst(2).map { byte in
        Character(Unicode.Scalar(byte)).hexDigitValue.map(Double.init) ?? .infinity
      }
      self = digits.reduce(0) { $0 * base + ($1 < base ? $1 : .infinity) }
      if digits.isEmpty { return nil }
    } else {
      // Double reads more than this, and writes "inf" for "Infinity".
      guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }), let value = Double(text)
      else { return nil }
      self = value
    }
    if !isFinite { return nil }
  }
}

extension StringProtocol {
  /// `text.trim()` of JavaScript.
  func trimmingBlanks() -> String {
    let scalars = unicodeScalars.trimming(\.isBlank)
    return String(self[scalars.startIndex..<scalars.endIndex])
  }
}

extension Unicode.Scalar {
  /// JavaScript's `\s` (ECMA-262, WhiteSpace and LineTerminator).
  var isBlank: Bool {
    switch value {
    case 9...13, 0x20, 0xa0, 0x1680, 0x2000...0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000,
      0xfeff:
      true
    default: false
    }
  }
}
