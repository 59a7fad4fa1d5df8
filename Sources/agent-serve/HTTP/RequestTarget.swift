import Core

/// What a request asks for (RFC 9112, section 3.2).
struct RequestTarget: Equatable, Sendable {
  /// Up to the `?`, decoded as the dashboard's router decodes it, not tidied up.
  let path: String
  /// Behind the `?`, as written.
  let query: String
  /// Of a target that names the server too; it counts before the field Host.
  let authority: Authority?

  /// - Parameters:
  ///   - text: the second word of the request line.
  ///   - method: the first one.
  /// - Throws: `RequestFault` for what has none of the forms.
  init(_ text: String, method: String) throws(RequestFault) {
    var rest = Array(text.utf8)[...]
    var authority: Authority?
    if rest.first != 0x2f, !(method == "OPTIONS" && rest.elementsEqual("*".utf8)) {
      guard let scheme = ["http://", "https://"].first(where: { Self.begins(rest, $0) }) else {
        throw .malformed
      }
      rest = rest.dropFirst(scheme.utf8.count)
      let end = rest.firstIndex { $0 == 0x2f || $0 == 0x3f } ?? rest.endIndex
      authority = Authority(String(decoding: rest[..<end], as: UTF8.self))
      if authority == nil { throw .malformed }
      rest = rest[end...]
    }
    self.authority = authority
    let parts = rest.split(separator: 0x3f, maxSplits: 1, omittingEmptySubsequences: false)
    let path = parts.first ?? []
    self.path = path.isEmpty ? "/" : PathDecoding.decode(path)
    query = parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : ""
  }

  /// - Parameter scheme: in lower case.
  private static func begins(_ bytes: ArraySlice<UInt8>, _ scheme: String) -> Bool {
    bytes.prefix(scheme.utf8.count).elementsEqual(scheme.utf8) { given, byte in
      given == byte || (given | 0x20 == byte && byte &- 0x61 < 26)
    }
  }
}

/// The percent-encoding of paths as JavaScript's `decodeURI` undoes it: what
/// could end a segment or begin a query stays as it was written, and so does
/// what is not UTF-8.
enum PathDecoding {
  private static let kept = Set("%;/?:@&=+$,#".utf8)

  /// - Parameter bytes: a path.
  static func decode(_ bytes: ArraySlice<UInt8>) -> String {
    guard bytes.contains(0x25) else { return String(decoding: bytes, as: UTF8.self) }
    var path: [UInt8] = []
    var at = bytes.startIndex
    while at < bytes.endIndex {
      // A run of escapes is text as a whole, or is left alone.
      let start = at
      var run: [UInt8] = []
      var text: [UInt8] = []
      while let byte = escaped(bytes[at...]) {
        run.append(byte)
        if kept.contains(byte) { text += bytes[at..<at + 3] } else { text.append(byte) }
        at += 3
      }
      if run.isEmpty {
        path.append(bytes[at])
        at += 1
      } else if run.withUnsafeBytes(UTF8Text.isValid) {
        path += text
      } else {
        path += bytes[start..<at]
      }
    }
    return String(decoding: path, as: UTF8.self)
  }

  private static func escaped(_ bytes: ArraySlice<UInt8>) -> UInt8? {
    guard bytes.count >= 3, bytes.first == 0x25,
      let high = digit(bytes[bytes.startIndex + 1]), let low = digit(bytes[bytes.startIndex + 2])
    else { return nil }
    return high << 4 | low
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46, 0x61...0x66: (byte | 0x20) - 0x61 + 10
    default: nil
    }
  }
}
