import CLibc
import Core

/// The event stream grammar of WHATWG HTML, sections 9.2.5 (parsing) and 9.2.6
/// (interpretation), over bytes that may be cut anywhere.
///
/// Lines end in LF, CR or CRLF; a CR acts at once and a LF that follows it,
/// even in the next piece, is swallowed. What is not kept (comments, unknown
/// fields) takes no memory. Each byte is looked at a constant number of times.
public struct EventParser: ~Copyable {
  private enum Field { case data, event, id, retry, comment, ignored }
  private enum Place { case name, valueStart, value }

  private let keepsComments: Bool
  private let limit: Int

  private var place = Place.name
  private var field = Field.ignored
  private var name = ByteBuffer()
  private var value = ByteBuffer()
  private var swallowsLineFeed = false
  private var markMatched = 0
  private var atStart = true

  private var data = ByteBuffer()
  private var dataLines = 0
  private var type = ByteBuffer()
  private var pendingID = ByteBuffer()
  private var committedID = ByteBuffer()
  private var dropped = 0

  /// - Parameters:
  ///   - keepsComments: whether comments are handed over.
  ///   - maxEventBytes: the most bytes that one event's data, type or id, or
  ///     one comment, may take; nil for no limit.
  public init(keepsComments: Bool = false, maxEventBytes: Int? = nil) {
    self.keepsComments = keepsComments
    limit = maxEventBytes ?? Int.max
  }

  /// The last event id: of the last blank line, kept over connections.
  public var lastEventID: [UInt8] {
    get { Array(committedID.bytes) }
    set {
      newValue.withUnsafeBytes { bytes in
        committedID.removeAll()
        committedID.append(bytes)
        pendingID.removeAll()
        pendingID.append(bytes)
      }
    }
  }

  /// Begins a new connection: an unfinished event and its id are forgotten,
  /// a byte order mark may come again.
  public mutating func restart() {
    forgetEvent()
    pendingID.removeAll()
    pendingID.append(committedID.bytes)
    place = .name
    name.removeAll()
    value.removeAll()
    swallowsLineFeed = false
    markMatched = 0
    atStart = true
  }

  /// Takes the next bytes of the connection.
  public mutating func consume(
    _ bytes: UnsafeRawBufferPointer, _ handle: (StreamItem) -> Void
  ) {
    var rest = bytes
    if atStart { rest = skipMark(rest) }
    guard let base = rest.baseAddress, rest.count > 0 else { return }
    let end = base + rest.count
    var position = base
    // The next LF and CR, looked up again only once they are passed.
    var lineFeed = base - 1
    var carriageReturn = base - 1
    while position < end {
      if swallowsLineFeed {
        swallowsLineFeed = false
        if position.load(as: UInt8.self) == 10 {
          position += 1
          continue
        }
      }
      if lineFeed < position { lineFeed = Self.find(10, position, end) }
      if carriageReturn < position { carriageReturn = Self.find(13, position, end) }
      let stop = min(lineFeed, carriageReturn)
      feed(UnsafeRawBufferPointer(start: position, count: stop - position))
      position = stop
      if stop < end {
        swallowsLineFeed = carriageReturn == stop
        position += 1
        endLine(handle)
      }
    }
  }

  /// Ends the connection. The standard drops an unfinished event.
  ///
  /// - Parameter flushPartial: hands it over instead, marked as partial; its
  ///   id is still not the stream's.
  public mutating func finish(flushPartial: Bool, _ handle: (StreamItem) -> Void) {
    if flushPartial {
      if place == .name && !name.isEmpty { beginValue(lookUp()) }
      handOver(isPartial: true, handle)
    }
    restart()
  }

  private static func find(
    _ byte: Int32, _ position: UnsafeRawPointer, _ end: UnsafeRawPointer
  ) -> UnsafeRawPointer {
    memchr(position, byte, end - position).map { UnsafeRawPointer($0) } ?? end
  }

  /// Drops one byte order mark at the start, also when it comes in pieces.
  private mutating func skipMark(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    var index = 0
    while index < bytes.count && markMatched < 3 && bytes[index] == mark[markMatched] {
      index += 1
      markMatched += 1
    }
    if markMatched < 3 {
      if index == bytes.count { return UnsafeRawBufferPointer(start: nil, count: 0) }
      // No mark after all: what was held back is the start of the first line.
      mark.withUnsafeBytes { feed(UnsafeRawBufferPointer(rebasing: $0[..<markMatched])) }
    }
    atStart = false
    return UnsafeRawBufferPointer(rebasing: bytes[index...])
  }

  /// Takes a piece of one line, without line ends.
  private mutating func feed(_ piece: UnsafeRawBufferPointer) {
    guard let base = piece.baseAddress, piece.count > 0 else { return }
    var rest = piece
    if place == .name {
      // No field's name is longer than five bytes.
      let room = min(6 - name.count, rest.count)
      let colon = memchr(base, 58, room)
      let length = colon.map { UnsafeRawPointer($0) - base } ?? room
      name.append(UnsafeRawBufferPointer(rebasing: rest[..<length]))
      rest = UnsafeRawBufferPointer(rebasing: rest[length...])
      if colon != nil {
        rest = UnsafeRawBufferPointer(rebasing: rest[1...])
        beginValue(name.isEmpty ? .comment : lookUp())
      } else if name.count == 6 {
        beginValue(.ignored)
      } else {
        return
      }
    }
    if place == .valueStart && rest.count > 0 {
      place = .value
      if rest[0] == 32 { rest = UnsafeRawBufferPointer(rebasing: rest[1...]) }
    }
    append(rest)
  }

  private func lookUp() -> Field {
    let bytes = name.bytes
    if bytes.elementsEqual("data".utf8) { return .data }
    if bytes.elementsEqual("event".utf8) { return .event }
    if bytes.elementsEqual("id".utf8) { return .id }
    if bytes.elementsEqual("retry".utf8) { return .retry }
    return .ignored
  }

  private mutating func beginValue(_ found: Field) {
    field = found
    place = .valueStart
    if field == .comment && !keepsComments { field = .ignored }
    if field == .data {
      if dataLines > 0 { joinLine() }
      dataLines += 1
    }
    value.removeAll()
  }

  /// The LF between two data lines counts like their bytes.
  private mutating func joinLine() {
    if dropped > 0 {
      dropped += 1
    } else if data.count >= limit {
      drop(data.count + 1)
    } else {
      data.append(10)
    }
  }

  private mutating func append(_ bytes: UnsafeRawBufferPointer) {
    if field == .ignored || bytes.count == 0 { return }
    if field == .data {
      if dropped > 0 {
        dropped += bytes.count
      } else if bytes.count > limit - data.count {
        drop(data.count + bytes.count)
      } else {
        data.append(bytes)
      }
    } else if bytes.count > limit - value.count {
      // A type or id past the limit takes its event with it, a comment only itself.
      if field != .comment { drop(value.count + bytes.count) }
      field = .ignored
    } else {
      value.append(bytes)
    }
  }

  private mutating func drop(_ size: Int) {
    dropped += max(size, 1)
    data.removeAll(keepingAtMost: 1 << 20)
    value.removeAll(keepingAtMost: 1 << 20)
  }

  private mutating func endLine(_ handle: (StreamItem) -> Void) {
    if place == .name {
      if name.isEmpty {
        dispatch(handle)
        return
      }
      beginValue(lookUp())
    }
    switch field {
    case .data, .ignored: break
    case .comment: handle(.comment(value.bytes))
    case .event:
      type.removeAll()
      type.append(value.bytes)
    case .id:
      if !value.bytes.contains(0) {
        pendingID.removeAll()
        pendingID.append(value.bytes)
      }
    case .retry: if let time = Self.digits(value.bytes) { handle(.retry(milliseconds: time)) }
    }
    place = .name
    name.removeAll()
  }

  private mutating func dispatch(_ handle: (StreamItem) -> Void) {
    committedID.removeAll()
    committedID.append(pendingID.bytes)
    handOver(isPartial: false, handle)
    forgetEvent()
  }

  /// Hands over what was gathered, if there were data lines.
  private mutating func handOver(isPartial: Bool, _ handle: (StreamItem) -> Void) {
    if dropped > 0 {
      handle(.oversize(bytes: dropped))
    } else if dataLines > 0 {
      handle(
        .event(
          StreamEventView(
            type: type.bytes, id: committedID.bytes, data: data.mutableBytes,
            isPartial: isPartial)))
    }
  }

  private mutating func forgetEvent() {
    data.removeAll(keepingAtMost: 8 << 20)
    type.removeAll()
    dataLines = 0
    dropped = 0
  }

  /// ASCII digits alone; what is too large for the type is its largest value.
  private static func digits(_ bytes: UnsafeRawBufferPointer) -> UInt64? {
    guard bytes.count > 0, bytes.allSatisfy({ (48...57).contains($0) }) else { return nil }
    var number: UInt64 = 0
    for byte in bytes {
      let (product, overflow) = number.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(UInt64(byte - 48))
      if overflow || carry { return UInt64.max }
      number = sum
    }
    return number
  }
}
