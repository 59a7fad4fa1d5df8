import Core

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
        guard let range = receive(left, bytes, &used) else { return nil }
        place =
          range.count < left
          ? .content(left: left - range.count, isChunk: isChunk) : isChunk ? .chunkEnd : .end
        return .data(range)
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
        if ["content-length", "transfer-encoding", "host"].contains(field.name) {
          throw .malformed
        }
      case .end:
        place = .start
        room = RequestHead.sizeLimit
        return .end
      }
    }
  }

  private func receive(
    _ limit: Int, _ bytes: UnsafeRawBufferPointer, _ used: inout Int
  ) -> Range<Int>? {
    let count = min(limit, bytes.count - used)
    guard count > 0 else { return nil }
    used += count
    return used - count..<used
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
