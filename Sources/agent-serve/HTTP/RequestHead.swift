import Core

/// A request's line and fields (RFC 9112, sections 3 and 5).
final class RequestHead: Sendable {
  /// The longest field and the longest head, bytes.
  static let sizeLimit = 64 * 1024

  /// How the body ends (RFC 9112, section 6.3).
  enum Framing: Equatable, Sendable {
    case length(Int)
    case chunked
  }

  /// As written; methods are case-sensitive.
  let method: String
  let target: RequestTarget
  /// What the client calls this server; nil for one of HTTP/1.0 that does not say.
  let authority: Authority?
  /// Whether the client speaks HTTP/1.0: no chunks, no further request.
  let isOld: Bool
  let framing: Framing
  private let fields: [Field]

  struct Field: Equatable, Sendable {
    /// In lower case.
    let name: String
    /// Without blanks and tabs around it.
    let value: String

    init(_ line: UnsafeRawBufferPointer) throws(Refusal) {
      guard let colon = line.firstIndex(of: 0x3a), isToken(line[..<colon]) else { throw .malformed }
      name = String(unsafeUninitializedCapacity: colon) { room in
        for (place, byte) in line[..<colon].enumerated() {
          room[place] = byte &- 0x41 < 26 ? byte | 0x20 : byte
        }
        return colon
      }
      let value = line[(colon + 1)...].trimming { $0 == 32 || $0 == 9 }
      self.value = String(decoding: value, as: UTF8.self)
    }
  }

  /// The target up to the `?`, decoded but for what would end a segment.
  var path: String { target.path }
  var query: String { target.query }

  init(_ line: RequestLine, _ fields: [Field]) throws(Refusal) {
    method = line.method
    isOld = line.isOld
    target = try RequestTarget(line.target, method: method)
    self.fields = fields
    framing = try Self.framing(fields, isOld: isOld)
    if let host = try Self.only("host", of: fields) {
      guard let named = Authority(host) else { throw .malformed }
      authority = target.authority ?? named
    } else {
      guard isOld else { throw .malformed }
      authority = target.authority
    }
  }

  var isOfAPI: Bool { path == "/api" || path.utf8.starts(with: "/api/".utf8) }

  /// Percent-decoded; nil when the path is another or the segment is empty.
  func segment(after prefix: String, before suffix: String) -> String? {
    let bytes = Array(path.utf8)
    guard bytes.starts(with: prefix.utf8), bytes.reversed().starts(with: suffix.utf8.reversed()),
      bytes.count > prefix.utf8.count + suffix.utf8.count
    else { return nil }
    let segment = bytes.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
    return segment.contains(0x2f)
      ? nil
      : QueryParameters.decode(
        String(decoding: segment, as: UTF8.self)[...], plusIsBlank: false)
  }

  /// A field's value without blanks around it; several lines of one name are
  /// joined by commas.
  subscript(_ name: String) -> String? {
    var value: String?
    for field in fields where field.name == name {
      guard value != nil else {
        value = field.value
        continue
      }
      value? += ", "
      value? += field.value
    }
    return value
  }

  var keepsAlive: Bool { !isOld && !lists("connection", "close") }

  /// Whether a field that is a list names something, whose letters' case does not matter.
  func lists(_ name: String, _ word: String) -> Bool {
    guard let list = self[name] else { return false }
    return list.lowercased().split(separator: ",").contains { $0.trimmingBlanks() == word }
  }

  var isMethodKnown: Bool {
    ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"].contains(method)
  }

  /// A field that may be there once.
  private static func only(_ name: String, of fields: [Field]) throws(Refusal) -> String? {
    var value: String?
    for field in fields where field.name == name {
      if value != nil { throw .malformed }
      value = field.value
    }
    return value
  }

  private static func framing(_ fields: [Field], isOld: Bool) throws(Refusal) -> Framing {
    let length = try only("content-length", of: fields)
    if let coding = try only("transfer-encoding", of: fields) {
      // Byte by byte: of Unicode a Kelvin sign is a k, too.
      guard coding.utf8.elementsEqual("chunked".utf8, by: { $0 | 0x20 == $1 }), length == nil,
        !isOld
      else { throw .malformed }
      return .chunked
    }
    guard let length else { return .length(0) }
    guard length.utf8.allSatisfy({ $0 &- 0x30 < 10 }), let count = Int(length) else {
      throw .malformed
    }
    return .length(count)
  }
}

/// Why a request is refused: the answer that stands for it.
struct Refusal: Error, Equatable {
  let answer: WholeAnswer

  init(_ answer: WholeAnswer) { self.answer = answer }

  /// For what is no request of its kind.
  init(bad reason: String) { answer = .error(reason, status: 400) }

  /// It is not an HTTP/1 request.
  static let malformed = Refusal(.error("bad_request", status: 400))
  /// Its head is longer than anybody's.
  static let headTooLarge = Refusal(.error("request_head_too_large", status: 431))
  /// It is of a version that is not ours.
  static let unknownVersion = Refusal(.error("http_version_not_supported", status: 505))
  /// Its body is longer than anybody's.
  static let bodyTooLarge = Refusal(.tooLarge)
  /// It did not come in time.
  static let late = Refusal(.error("request_timeout", status: 408))
}

enum RequestBody: Equatable, Sendable {
  /// The longest one, as the dashboard's (Agent/Clanky/CONTRACT.md 1.2), bytes.
  static let limit = 7 * 1024 * 1024
  /// What is read of a longer one, and thrown away, before the connection is given up, bytes.
  static let patience = 64 * 1024 * 1024

  case whole([UInt8])
  case tooLarge

  /// Without the byte order mark that some editors put in front of a text.
  var behindMark: RequestBody {
    guard case .whole(let bytes) = self, bytes.starts(with: [0xef, 0xbb, 0xbf]) else { return self }
    return .whole(Array(bytes.dropFirst(3)))
  }
}

/// What a request asks for (RFC 9112, section 3.2).
struct RequestTarget: Equatable, Sendable {
  /// Up to the `?`, decoded as the dashboard's router decodes it, not tidied up.
  let path: String
  let query: String
  /// Of a target that names the server too; it counts before the field Host.
  let authority: Authority?

  init(_ text: String, method: String) throws(Refusal) {
    // The usual form.
    if text.utf8.first == 0x2f, !text.utf8.contains(where: { $0 == 0x25 || $0 == 0x3f }) {
      (path, query, authority) = (text, "", nil)
      return
    }
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
    self.path = path.isEmpty ? "/" : Self.decode(path)
    query = parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : ""
  }

  private static func begins(_ bytes: ArraySlice<UInt8>, _ scheme: String) -> Bool {
    bytes.prefix(scheme.utf8.count).elementsEqual(scheme.utf8) { given, byte in
      given == byte || (given | 0x20 == byte && byte &- 0x61 < 26)
    }
  }

  private static let kept = Set("%;/?:@&=+$,#".utf8)

  /// The percent-encoding of paths as JavaScript's `decodeURI` undoes it: what
  /// could end a segment or begin a query stays as it was written, and so does
  /// what is not UTF-8.
  private static func decode(_ bytes: ArraySlice<UInt8>) -> String {
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
    let digits = bytes.prefix(3).dropFirst()
      .compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    return bytes.first == 0x25 && digits.count == 2 ? UInt8(digits[0] << 4 | digits[1]) : nil
  }
}

/// Reads requests, one after the other, from the bytes of a connection (RFC 9112): a function of
/// the bytes, whatever pieces they come in, and never of time or of a socket.
///
/// It is strict where two servers could understand a byte differently, and keeps no more than one
/// line.
struct RequestParser {
  enum Part {
    case head(RequestHead)
    /// Some of its body: a range of the bytes that were given.
    case data(Range<Int>)
    case end
  }

  private enum Place {
    case start
    case fields
    case content(left: Int, isChunk: Bool)
    case chunkSize
    case chunkEnd
    case trailer
    case end
  }

  private var place = Place.start
  private var line: RequestLine?
  private var fields: [RequestHead.Field] = []
  /// How many bytes of an unfinished line were looked at.
  private var scanned = 0
  /// How many bytes a head, or all that a body has beside its content, may still take.
  private var room = RequestHead.sizeLimit

  /// Whether something of a request has come that is not whole.
  var isWithinRequest: Bool {
    if case .start = place { return scanned > 0 }
    return true
  }

  /// Reads on. Returns nil when more must come first.
  mutating func next(
    _ bytes: UnsafeRawBufferPointer, _ used: inout Int
  ) throws(Refusal) -> Part? {
    while true {
      switch place {
      case .start:
        guard let text = try readLine(bytes, &used) else { return nil }
        // Empty lines before a request are passed over (section 2.2).
        if text.isEmpty { continue }
        line = try RequestLine(text)
        fields = []
        place = .fields
      case .fields:
        guard let text = try readLine(bytes, &used) else { return nil }
        if !text.isEmpty {
          fields.append(try RequestHead.Field(text))
          continue
        }
        guard let line else { throw .malformed }
        let head = try RequestHead(line, fields)
        (self.line, fields) = (nil, [])
        room = RequestHead.sizeLimit
        switch head.framing {
        case .length(let count):
          place = count > 0 ? .content(left: count, isChunk: false) : .end
        case .chunked: place = .chunkSize
        }
        return .head(head)
      case .content(let left, let isChunk):
        let count = min(left, bytes.count - used)
        if count == 0 { return nil }
        used += count
        place =
          count < left
          ? .content(left: left - count, isChunk: isChunk) : isChunk ? .chunkEnd : .end
        return .data(used - count..<used)
      case .chunkSize:
        guard let text = try readLine(bytes, &used) else { return nil }
        let (size, digits) = try Self.chunkSize(text)
        if size > RequestBody.patience { throw .bodyTooLarge }
        // What says nothing but the size is no burden.
        room += digits + 2
        place = size > 0 ? .content(left: size, isChunk: true) : .trailer
      case .chunkEnd:
        guard let text = try readLine(bytes, &used) else { return nil }
        guard text.isEmpty else { throw .malformed }
        room += 2
        place = .chunkSize
      case .trailer:
        guard let text = try readLine(bytes, &used) else { return nil }
        if text.isEmpty {
          place = .end
          continue
        }
        let field = try RequestHead.Field(text)
        // It comes too late to say where the request ends, or whom it is for (section 6.5.1).
        let late = ["content-length", "transfer-encoding", "host"]
        if late.contains(field.name) { throw .malformed }
      case .end:
        place = .start
        room = RequestHead.sizeLimit
        return .end
      }
    }
  }

  private mutating func readLine(
    _ bytes: UnsafeRawBufferPointer, _ used: inout Int
  ) throws(Refusal) -> UnsafeRawBufferPointer? {
    let end = min(bytes.count, used + room)
    var at = used + scanned
    while at < end {
      let byte = bytes[at]
      if byte == 13 {
        guard at + 1 < end else { break }
        guard bytes[at + 1] == 10 else { throw .malformed }
        let text = UnsafeRawBufferPointer(rebasing: bytes[used..<at])
        room -= at + 2 - used
        used = at + 2
        scanned = 0
        return text
      }
      // A line feed alone ends a line for some readers and not for others.
      if (byte < 0x20 && byte != 9) || byte == 0x7f { throw .malformed }
      at += 1
    }
    if end < bytes.count { throw .headTooLarge }
    scanned = at - used
    return nil
  }

  /// The size that a chunk begins with, and in how many digits it is written (section 7.1).
  private static func chunkSize(
    _ line: UnsafeRawBufferPointer
  ) throws(Refusal) -> (size: Int, digits: Int) {
    var size: UInt64 = 0
    var digits = 0
    for byte in line {
      // What an extension says is not looked at.
      if byte == 0x3b { break }
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, digits < 16 else {
        throw .malformed
      }
      digits += 1
      size = size << 4 | UInt64(digit)
    }
    if digits == 0 { throw .malformed }
    return (Int(clamping: size), digits)
  }
}

/// The first line of a request (RFC 9112, section 3).
struct RequestLine {
  let method: String
  let target: String
  /// Whether it is of HTTP/1.0; anything above 1.1 is as 1.1 (RFC 9110, section 2.5).
  let isOld: Bool

  init(_ text: UnsafeRawBufferPointer) throws(Refusal) {
    guard let first = text.firstIndex(of: 0x20), let last = text.lastIndex(of: 0x20), first < last
    else { throw .malformed }
    let (name, target) = (text[..<first], text[(first + 1)..<last])
    let version = text[(last + 1)...]
    guard isToken(name), !target.isEmpty, version.count == 8,
      version.starts(with: "HTTP/".utf8), version[last + 6] &- 0x30 < 10, version[last + 7] == 0x2e,
      version[last + 8] &- 0x30 < 10
    else { throw .malformed }
    if version[last + 6] != 0x31 { throw .unknownVersion }
    // A fragment is not sent (section 3.2), and who gets one may cut it off or not.
    guard target.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != 0x23 }) else { throw .malformed }
    method = String(decoding: name, as: UTF8.self)
    self.target = String(decoding: target, as: UTF8.self)
    isOld = version[last + 8] == 0x30
  }
}

/// The words of methods and of fields' names (RFC 9110, section 5.6.2).
func isToken(_ bytes: some Collection<UInt8>) -> Bool {
  !bytes.isEmpty
    && bytes.allSatisfy { $0.isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains($0) }
}
