import Core
import Records

struct WholeAnswer: Sendable, Equatable {
  var status: Int
  var type: String
  var body: [UInt8]
  var closes = false
  /// When it is worth to ask again, seconds.
  var retryAfter: Int?
  var isStream = false
  /// Whether it says that WebSockets are spoken here (RFC 6455, section 4.4).
  var upgrade = false

  static func json(_ text: String, status: Int = 200) -> WholeAnswer {
    json(Array(text.utf8), status: status)
  }

  static func json(_ object: RecordText, status: Int = 200) -> WholeAnswer {
    json(object.bytes, status: status)
  }

  static func json(_ bytes: [UInt8], status: Int = 200) -> WholeAnswer {
    WholeAnswer(status: status, type: "application/json", body: bytes)
  }

  func retrying(after seconds: Int) -> WholeAnswer {
    var answer = self
    answer.retryAfter = seconds
    return answer
  }

  static func error(_ text: String, status: Int) -> WholeAnswer {
    json(RecordText().string("error", text), status: status)
  }

  static let healthy = json(#"{"ok":true}"#)
  /// The dashboard's own refusals, byte for byte (Agent/Clanky/CONTRACT.md 1.1 and 1.2).
  static let unauthorized = error("Unauthorized. Provide x-dashboard-token.", status: 401)
  static let noSuchPath = WholeAnswer(
    status: 404, type: "text/plain; charset=UTF-8", body: Array("Not found.".utf8))
  static let noSuchMethod = error("Not found.", status: 404)
  /// A POST of a web page to a server without a token.
  static let foreignOrigin = error("cross_origin_post_needs_a_token", status: 403)
  /// A request for a name that is not this server's.
  static let misdirected = error("misdirected_request", status: 421)
  static let invalidJSON = WholeAnswer(
    status: 400, type: "application/json;charset=utf-8",
    body: Array(#"{"error":"invalid_json_body"}"#.utf8))
  static let tooLarge = error("payload_too_large", status: 413)

  static let unknownMethod = error("not_implemented", status: 501)

  static let busy = error("too busy", status: 503).retrying(after: 2)

  /// The answer's bytes (RFC 9112, section 4).
  func bytes(isHead: Bool, now: Timestamp = .now()) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(256 + (isHead ? 0 : body.count))
    bytes += Self.statusLine(status).utf8
    bytes += "Date: ".utf8
    bytes += now.sharedDate.utf8
    // An answer without content has neither (RFC 9110, section 8.6), and of a stream nobody
    // knows the length.
    if status != 204 {
      bytes += "\r\nContent-Type: ".utf8
      bytes += type.utf8
      if !isStream {
        bytes += "\r\nContent-Length: ".utf8
        bytes += String(body.count).utf8
      }
    }
    if let retryAfter { bytes += "\r\nRetry-After: \(retryAfter)".utf8 }
    if closes {
      bytes += "\r\nConnection: close".utf8
    } else if upgrade {
      bytes +=
        "\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nConnection: Upgrade".utf8
    }
    bytes += "\r\n\r\n".utf8
    if !isHead { bytes += body }
    return bytes
  }

  static func statusLine(_ status: Int) -> String {
    status == 200 ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 \(status) \(phrases[status] ?? "")\r\n"
  }

  private static let phrases = [
    100: "Continue", 101: "Switching Protocols", 200: "OK", 201: "Created", 202: "Accepted",
    204: "No Content", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
    404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout", 409: "Conflict",
    413: "Payload Too Large", 421: "Misdirected Request", 422: "Unprocessable Entity",
    426: "Upgrade Required", 429: "Too Many Requests", 431: "Request Header Fields Too Large",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway",
    503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
  ]
}

extension Timestamp {
  private static let lastDate = Guarded((seconds: Int64.min, text: ""))

  /// `httpDate`, made once in a second.
  var sharedDate: String {
    Self.lastDate.withLock { last in
      if last.seconds != seconds { last = (seconds, httpDate) }
      return last.text
    }
  }

  /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7); never in the words of
  /// a locale.
  var httpDate: String {
    let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    // 1970 began on a Thursday.
    let weekday = weekdays[Int(max(seconds, 0) / 86_400 % 7)]
    let parts = rfc3339.split { $0 == "-" || $0 == "T" || $0 == "." }
    let month = months[(Int(parts[1]) ?? 1) - 1]
    return "\(weekday), \(parts[2]) \(month) \(parts[0]) \(parts[3]) GMT"
  }
}

/// Decoded as forms are (WHATWG URL, application/x-www-form-urlencoded).
struct QueryParameters {
  let pairs: [(name: String, value: String)]

  init(_ text: String) {
    pairs = text.split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (Self.decode(parts[0]), parts.count > 1 ? Self.decode(parts[1]) : "")
    }
  }

  subscript(_ name: String) -> String? { pairs.first { $0.name == name }?.value }

  func word(_ name: String) -> String? {
    let text = (self[name] ?? "").trimmingBlanks()
    return text.isEmpty ? nil : text
  }

  /// The instant so many hours ago, nil without a number of hours above 0.
  func since(now: Timestamp) -> String? {
    guard let hours = number("sinceHours"), hours > 0 else { return nil }
    return now.before(hours: hours).rfc3339
  }

  func number(_ name: String) -> Double? { self[name].flatMap(Double.init(javaScript:)) }

  /// A number rounded down and clamped; the default for junk.
  func integer(_ name: String, default fallback: Int, in range: ClosedRange<Int>) -> Int {
    guard let value = number(name) else { return fallback }
    let floor = value.rounded(.down)
    if floor <= Double(range.lowerBound) { return range.lowerBound }
    if floor >= Double(range.upperBound) { return range.upperBound }
    return Int(floor)
  }

  static func decode(_ text: Substring, plusIsBlank: Bool = true) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "+") {
        bytes.append(plusIsBlank ? 0x20 : byte)
      } else if byte == UInt8(ascii: "%"), rest.count >= 2, rest.first != UInt8(ascii: "+"),
        rest.first != UInt8(ascii: "-"),
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The body of a request as an object (Agent/Clanky/CONTRACT.md 1.2): what says that it is JSON
/// must be, a form is read as one, and a body of any other type has no members.
struct RequestObject {
  private let json: [UInt8]

  init(_ body: [UInt8], type: String) throws(Refusal) {
    let type = type.lowercased()
    if type.holds("application/json") {
      let body = UTF8Text.repaired(body)
      guard body.isEmpty || body.withUnsafeBytes(ScanValidator.isValue) else {
        throw Refusal(.invalidJSON)
      }
      json = body
    } else if type.holds("application/x-www-form-urlencoded") {
      let members = QueryParameters(String(decoding: body, as: UTF8.self)).pairs
        .map { "\(JSONText.quoted($0.name)):\(JSONText.quoted($0.value))" }
      json = Array("{\(members.joined(separator: ","))}".utf8)
    } else {
      json = []
    }
  }

  /// Gives the members to `body`, which they must not leave.
  func members<Result, Failure: Error>(
    _ body: (ScanObject) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try json.withUnsafeBufferPointer { bytes throws(Failure) in
      try body(ScanObject(UnsafeRawBufferPointer(bytes)) ?? ScanObject())
    }
  }
}
