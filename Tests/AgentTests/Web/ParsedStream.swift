import Core

@testable import Web

/// What a parser made of a stream, in a form that tests can compare.
enum ParsedItem: Equatable, CustomStringConvertible {
  case event(type: String, id: String, data: String, partial: Bool = false)
  case comment(String)
  case retry(UInt64)
  case oversize

  init(_ item: StreamItem) {
    switch item {
    case .event(let event):
      self = .event(
        type: String(decoding: event.type, as: UTF8.self),
        id: String(decoding: event.id, as: UTF8.self),
        data: String(decoding: event.data, as: UTF8.self), partial: event.isPartial)
    case .comment(let bytes): self = .comment(String(decoding: bytes, as: UTF8.self))
    case .retry(let time): self = .retry(time)
    case .oversize: self = .oversize
    }
  }

  var description: String {
    switch self {
    case .event(let type, let id, let data, let partial):
      "event(\(type.debugDescription), \(id.debugDescription), \(data.debugDescription), \(partial))"
    case .comment(let text): "comment(\(text.debugDescription))"
    case .retry(let time): "retry(\(time))"
    case .oversize: "oversize"
    }
  }
}

/// Bytes of a connection through a parser.
func feed(_ bytes: [UInt8], to parser: inout EventParser, _ items: inout [ParsedItem]) {
  bytes.withUnsafeBytes { bytes in
    var rest = bytes
    while let item = parser.receive(&rest) { items.append(ParsedItem(item)) }
  }
}

/// One connection's bytes through a parser, in the given pieces.
func parse(
  _ pieces: [[UInt8]], comments: Bool = true, limit: Int? = nil, flushPartial: Bool = false
) -> (items: [ParsedItem], id: String) {
  var parser = EventParser(keepsComments: comments, maxEventBytes: limit)
  var items: [ParsedItem] = []
  for piece in pieces { feed(piece, to: &parser, &items) }
  if flushPartial, let item = parser.partial() { items.append(ParsedItem(item)) }
  return (items, String(decoding: parser.lastEventID, as: UTF8.self))
}

/// One connection's text in one piece.
func parse(
  _ text: String, comments: Bool = true, limit: Int? = nil, flushPartial: Bool = false
) -> [ParsedItem] {
  parse([Array(text.utf8)], comments: comments, limit: limit, flushPartial: flushPartial).items
}
