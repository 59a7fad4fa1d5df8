import FlyingSocks

/// Reads the requests of one connection, each to its end: the next one begins
/// behind its body.
///
/// FlyingFox's own reader takes a time quadratic to the length of a line, which
/// lets anybody who can connect stop the server with one long header.
struct RequestReader {
  /// The longest head, bytes.
  static let headLimit = 64 * 1024
  /// The longest body, as the dashboard's (Agent/Clanky/CONTRACT.md 1.2).
  static let bodyLimit = 7 * 1024 * 1024
  /// What is read and thrown away beyond it before the connection is given up.
  private static let patience = 64 * 1024 * 1024

  /// What became of a body.
  enum Body: Equatable, Sendable {
    /// All of it.
    case whole([UInt8])
    /// More than the limit; the connection can go on when `isDrained`.
    case tooLarge(isDrained: Bool)
  }

  /// Gives the next bytes; none at the end of the connection.
  typealias Source = () async throws -> [UInt8]

  private let source: Source
  private var buffer: [UInt8] = []
  private var position = 0

  /// - Parameter source: the connection.
  init(source: @escaping Source) { self.source = source }

  /// Whether something of the next request is there already.
  var hasMore: Bool { position < buffer.count }

  /// The next request's head.
  ///
  /// - Returns: nil at the end of the connection.
  /// - Throws: `RequestFault`, or what the socket says.
  mutating func head() async throws -> RequestHead? {
    var scanned = position
    var lineStart = position
    while true {
      while scanned < buffer.count {
        let byte = buffer[scanned]
        scanned += 1
        guard byte == 10 else { continue }
        let line = buffer[lineStart..<(scanned - 1)]
        // A line feed alone ends a line for some readers and not for others.
        guard line.last == 13 else { throw RequestFault.malformed }
        if line.count == 1 {
          // Empty lines before a request are passed over (RFC 9112, 2.2).
          if lineStart == position {
            position = scanned
          } else {
            let head = try RequestHead(buffer[position..<lineStart])
            position = scanned
            return head
          }
        }
        lineStart = scanned
      }
      if buffer.count - position > Self.headLimit { throw RequestFault.headTooLarge }
      let before = position
      guard try await fill() else {
        if position == buffer.count { return nil }
        throw RequestFault.malformed
      }
      scanned -= before - position
      lineStart -= before - position
    }
  }

  /// The body of the request whose head was read last.
  ///
  /// - Parameters:
  ///   - framing: how it ends.
  ///   - keeps: false when only its end is wanted.
  /// - Throws: `RequestFault`, `SocketError.disconnected` when it breaks off.
  mutating func body(_ framing: RequestHead.Framing, keeps: Bool) async throws -> Body {
    var bytes: [UInt8] = []
    var count = 0
    switch framing {
    case .length(let length):
      if length > Self.patience { return .tooLarge(isDrained: false) }
      try await take(length, into: &bytes, &count, keeps)
    case .chunked:
      while let size = try await chunkSize() {
        if count + size > Self.patience { return .tooLarge(isDrained: false) }
        try await take(size, into: &bytes, &count, keeps)
        guard try await line().isEmpty else { throw RequestFault.malformed }
      }
    }
    return count > Self.bodyLimit ? .tooLarge(isDrained: true) : .whole(bytes)
  }

  private mutating func take(
    _ length: Int, into bytes: inout [UInt8], _ count: inout Int, _ keeps: Bool
  ) async throws {
    var left = length
    while left > 0 {
      if position == buffer.count, !(try await fill()) { throw SocketError.disconnected }
      let size = min(left, buffer.count - position)
      count += size
      if keeps && count <= Self.bodyLimit { bytes += buffer[position..<position + size] }
      position += size
      left -= size
    }
  }

  /// The size of the next chunk, nil behind the last one and its trailers
  /// (RFC 9112, section 7.1).
  private mutating func chunkSize() async throws -> Int? {
    let line = try await line()
    let digits = line.prefix { $0 != 59 }
    guard !digits.isEmpty, digits.count < 16, FieldText.isText(line),
      digits.allSatisfy({ ($0 &- 0x30 < 10) || (($0 | 0x20) &- 0x61 < 6) }),
      let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw RequestFault.malformed }
    if size > 0 { return size }
    var trailers = 0
    while true {
      let trailer = try await self.line()
      if trailer.isEmpty { return nil }
      _ = try FieldText.field(trailer[...])
      trailers += trailer.count
      if trailers > Self.headLimit { throw RequestFault.headTooLarge }
    }
  }

  /// One line without its end.
  private mutating func line() async throws -> [UInt8] {
    var line: [UInt8] = []
    while true {
      if position == buffer.count, !(try await fill()) { throw SocketError.disconnected }
      let rest = buffer[position...]
      if let end = rest.firstIndex(of: 10) {
        line += rest[..<end]
        position = end + 1
        guard line.popLast() == 13 else { throw RequestFault.malformed }
        return line
      }
      line += rest
      position = buffer.count
      if line.count > Self.headLimit { throw RequestFault.headTooLarge }
    }
  }

  /// Reads once more; false at the end.
  private mutating func fill() async throws -> Bool {
    if position > 0 {
      buffer.removeFirst(position)
      position = 0
    }
    let bytes = try await source()
    buffer += bytes
    return !bytes.isEmpty
  }
}
