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

  private var draft: EventDraft
  private var pendingID = ByteBuffer()
  private var committedID = ByteBuffer()
  private var hasNewID = false
  private var isOver = false

  /// - Parameters:
  ///   - keepsComments: whether comments are handed over.
  ///   - maxEventBytes: the most bytes that one event's data, type or id, or
  ///     one comment, may take; nil for no limit.
  public init(keepsComments: Bool = false, maxEventBytes: Int? = nil) {
    self.keepsComments = keepsComments
    limit = maxEventBytes ?? Int.max
    draft = EventDraft(limit: limit)
  }

  /// The last event id: of the last blank line, kept over connections.
  public var lastEventID: [UInt8] {
    get { Array(committedID.bytes) }
    set {
      newValue.withUnsafeBytes { bytes in
        committedID.removeAll()
        committedID.append(bytes)
      }
      revertID()
    }
  }

  /// Begins a new connection: an unfinished event and its id are forgotten,
  /// a byte order mark may come again.
  public mutating func restart() {
    draft.forget()
    revertID()
    place = .name
    name.removeAll()
    value.removeAll()
    swallowsLineFeed = false
    markMatched = 0
    atStart = true
  }

  /// Takes the next bytes of the connection, up to the first item that they complete.
  ///
  /// - Parameter rest: what came; then what is behind the item, and nothing when there is none.
  /// - Returns: valid until the next call, and while the bytes are.
  public mutating func receive(_ rest: inout UnsafeRawBufferPointer) -> StreamItem? {
    settle()
    if atStart { rest = skipMark(rest) }
    while rest.count > 0 {
      if let item = next(&rest) { return item }
    }
    draft.keep()
    return nil
  }

  /// The unfinished event at the end of a connection, which the standard drops: marked as partial,
  /// and its id is still not the stream's. Nil for none.
  public mutating func partial() -> StreamItem? {
    settle()
    if place == .name && !name.isEmpty { beginValue(lookUp()) }
    return draft.item(id: committedID.bytes, isPartial: true)
  }

  private mutating func next(_ rest: inout UnsafeRawBufferPointer) -> StreamItem? {
    guard let base = rest.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return nil }
    let end = base + rest.count
    var position = base
    if swallowsLineFeed {
      swallowsLineFeed = false
      if position.pointee == 10 { position += 1 }
    }
    let stop = clibc_scan_line(position, end) ?? end
    let piece = UnsafeRawBufferPointer(start: position, count: stop - position)
    if stop == end {
      rest = UnsafeRawBufferPointer(start: end, count: 0)
      feed(piece)
      return nil
    }
    swallowsLineFeed = stop.pointee == 13
    rest = UnsafeRawBufferPointer(start: stop + 1, count: end - stop - 1)
    if place == .name && name.isEmpty { return receive(line: piece) }
    feed(piece)
    return endLine()
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

  /// Takes a whole line, without its end: what most streams are made of at once, the
  /// rest like a line that comes in pieces.
  private mutating func receive(line: UnsafeRawBufferPointer) -> StreamItem? {
    if line.isEmpty { return dispatch() }
    switch line[0] {
    case UInt8(ascii: "d"):
      if let value = Self.value("data", line), draft.receive(line: value) { return nil }
    case UInt8(ascii: "e"):
      if let value = Self.value("event", line), value.count <= limit {
        draft.set(type: value)
        return nil
      }
    case UInt8(ascii: "i"):
      if let value = Self.value("id", line), value.count <= limit {
        setID(value)
        return nil
      }
    default: break
    }
    feed(line)
    return endLine()
  }

  @inline(__always)
  private static func value(
    _ name: StaticString, _ line: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer? {
    var start = name.utf8CodeUnitCount
    guard let base = line.baseAddress, line.count > start, line[start] == 58,
      memcmp(base, name.utf8Start, start) == 0
    else { return nil }
    start += 1
    if start < line.count && line[start] == 32 { start += 1 }
    return UnsafeRawBufferPointer(rebasing: line[start...])
  }

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
    switch String(decoding: name.bytes, as: UTF8.self) {
    case "data": .data
    case "event": .event
    case "id": .id
    case "retry": .retry
    default: .ignored
    }
  }

  private mutating func beginValue(_ found: Field) {
    field = found
    place = .valueStart
    if field == .comment && !keepsComments { field = .ignored }
    if field == .data { draft.beginLine() }
    value.removeAll()
  }

  private mutating func append(_ bytes: UnsafeRawBufferPointer) {
    if field == .ignored || bytes.count == 0 { return }
    if field == .data {
      draft.append(bytes)
    } else if bytes.count > limit - value.count {
      // A type or id past the limit takes its event with it, a comment only itself.
      if field != .comment { draft.drop(value.count + bytes.count) }
      value.removeAll(keepingAtMost: 1 << 20)
      field = .ignored
    } else {
      value.append(bytes)
    }
  }

  private mutating func endLine() -> StreamItem? {
    if place == .name {
      if name.isEmpty { return dispatch() }
      beginValue(lookUp())
    }
    place = .name
    name.removeAll()
    switch field {
    case .data, .ignored: break
    case .comment: return .comment(value.bytes)
    case .event: draft.set(type: value.bytes)
    case .id: setID(value.bytes)
    case .retry: return Self.digits(value.bytes).map { .retry(milliseconds: $0) }
    }
    return nil
  }

  /// An id counts from the blank line on; one with NUL never.
  private mutating func setID(_ bytes: UnsafeRawBufferPointer) {
    if let base = bytes.baseAddress, memchr(base, 0, bytes.count) != nil { return }
    pendingID.removeAll()
    pendingID.append(bytes)
    hasNewID = true
  }

  private mutating func revertID() {
    pendingID.removeAll()
    pendingID.append(committedID.bytes)
    hasNewID = false
  }

  private mutating func dispatch() -> StreamItem? {
    if hasNewID {
      committedID.removeAll()
      committedID.append(pendingID.bytes)
      hasNewID = false
    }
    isOver = true
    guard let item = draft.item(id: committedID.bytes, isPartial: false) else {
      settle()
      return nil
    }
    return item
  }

  private mutating func settle() {
    if isOver { draft.forget() }
    isOver = false
  }

  /// ASCII digits alone; what is too large for the type is its largest value.
  private static func digits(_ bytes: UnsafeRawBufferPointer) -> UInt64? {
    guard bytes.count > 0, bytes.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return UInt64(String(decoding: bytes, as: UTF8.self)) ?? .max
  }
}
