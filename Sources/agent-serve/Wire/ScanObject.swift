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
