/// The lines of a head, and of what follows the last chunk (RFC 9110, section 5).
enum FieldText {
  /// The name in lower case, and the value without blanks and tabs around it.
  ///
  /// - Parameter line: without its end.
  /// - Throws: `RequestFault` for a name that is none, and for a value with a
  ///   control character.
  static func field(_ line: ArraySlice<UInt8>) throws(RequestFault) -> (String, String) {
    guard let colon = line.firstIndex(of: 58), isToken(line[..<colon]) else { throw .malformed }
    let value = line[(colon + 1)...]
    guard isText(value) else { throw .malformed }
    return (text(line[..<colon]).lowercased(), text(trimmed(value)))
  }

  /// Without blanks and tabs at the ends; there is no other white space in a field.
  static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let start = bytes.drop { $0 == 32 || $0 == 9 }
    guard let last = start.lastIndex(where: { $0 != 32 && $0 != 9 }) else { return [] }
    return start[...last]
  }

  /// Whether there is no control character but tabs.
  static func isText(_ bytes: some Sequence<UInt8>) -> Bool {
    bytes.allSatisfy { ($0 >= 0x20 && $0 != 0x7f) || $0 == 9 }
  }

  /// RFC 9110, section 5.6.2.
  static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
    !bytes.isEmpty
      && bytes.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }

  /// As UTF-8, which it need not be.
  static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self)
  }
}
