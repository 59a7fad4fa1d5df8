/// Reads the answer to a request byte by byte as far as a WebSocket needs it: the final
/// head, and the beginning of the body of an error (RFC 9112).
struct AnswerReader {
  enum Progress {
    case more
    /// 101; what follows it in the bytes from this place on are frames.
    case switched(ResponseHead, rest: Int)
    case answered(ResponseHead, [UInt8])
    case bad(String)
  }

  /// The largest head that is read, with those before it (1xx), bytes.
  static let mostOfHead = 64 << 10

  private let mask: SecretMask
  private var line: [UInt8] = []
  private var size = 0
  private(set) var head: ResponseHead?
  private var body: [UInt8] = []
  private var framing: Framing?

  private enum Framing {
    case length(Int)
    case chunks(ChunkReader)
    case end
  }

  init(mask: SecretMask) { self.mask = mask }

  /// Whether the final head came, so that an end of the connection may end the body.
  var hasHead: Bool { framing != nil }

  mutating func receive(_ bytes: UnsafeRawBufferPointer) -> Progress {
    var place = 0
    while framing == nil {
      guard place < bytes.count else { return .more }
      let byte = bytes[place]
      place += 1
      size += 1
      if size > Self.mostOfHead { return .bad("the head of the answer does not end") }
      if byte != 10 {
        line.append(byte)
        continue
      }
      if line.last == 13 { line.removeLast() }
      let text = String(decoding: line, as: UTF8.self)
      line.removeAll(keepingCapacity: true)
      guard let known = head else {
        guard let started = ResponseHead(statusLine: text) else {
          return .bad("the answer is not HTTP")
        }
        head = started
        head?.mask = mask
        continue
      }
      if text.isEmpty {
        if known.status == 101 { return .switched(known, rest: place) }
        // What stands in its body is for people.
        if known.isRedirect, known.value("Location") != nil { return .answered(known, []) }
        if (100...199).contains(known.status) { head = nil } else { begin(known) }
      } else {
        head?.add(receivedLine: text)
      }
    }
    return takeBody(UnsafeRawBufferPointer(rebasing: bytes[place...]))
  }

  mutating func finish() -> Progress {
    guard hasHead, let head else { return .bad("the server closed the connection") }
    return .answered(head, body)
  }

  private mutating func begin(_ head: ResponseHead) {
    let coding = head.value("Transfer-Encoding")?.lowercased() ?? ""
    if head.status == 204 || head.status == 304 {
      framing = .length(0)
    } else if coding.hasSuffix("chunked") {
      framing = .chunks(ChunkReader())
    } else if let length = head.value("Content-Length").flatMap({ Int($0) }), length >= 0 {
      framing = .length(length)
    } else {
      framing = .end
    }
  }

  private mutating func takeBody(_ bytes: UnsafeRawBufferPointer) -> Progress {
    guard let head, let framing else { return .more }
    var isOver = false
    switch framing {
    case .end: body += bytes
    case .length(let length):
      body += bytes.prefix(length - min(length, body.count))
      isOver = body.count >= length
    case .chunks(var chunks):
      isOver = chunks.receive(bytes, into: &body)
      self.framing = .chunks(chunks)
    }
    if body.count >= Fetch.mostOfError {
      body.removeSubrange(Fetch.mostOfError...)
      isOver = true
    }
    return isOver ? .answered(head, body) : .more
  }
}

/// Takes a body in chunks apart (RFC 9112, section 7.1), as far as it makes sense.
struct ChunkReader {
  private var line: [UInt8] = []
  private var left = 0
  private var isData = false

  /// Adds the data to a body: whether the last chunk began, or nothing sensible follows.
  mutating func receive(_ bytes: UnsafeRawBufferPointer, into body: inout [UInt8]) -> Bool {
    var place = 0
    while place < bytes.count {
      if isData {
        let count = min(left, bytes.count - place)
        body += bytes[place..<place + count]
        place += count
        left -= count
        isData = left > 0
        continue
      }
      let byte = bytes[place]
      place += 1
      if byte != 10 {
        line.append(byte)
        if line.count > 256 { return true }
        continue
      }
      let digits = String(decoding: line.prefix { $0 != 59 && $0 != 13 }, as: UTF8.self)
      line = []
      // The line end behind a chunk's data.
      if digits.isEmpty { continue }
      guard let size = Int(digits.trimmingBlanks, radix: 16), size > 0 else { return true }
      left = size
      isData = true
    }
    return false
  }
}
