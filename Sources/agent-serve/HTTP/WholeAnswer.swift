import Core
import NIOHTTP1
import Records

/// An answer with a body that is there as a whole.
struct WholeAnswer: Sendable, Equatable {
  /// 200, 404, ...
  var status: Int
  /// The content type's value.
  var type: String
  /// The body.
  var body: [UInt8]
  /// Whether the connection ends behind it.
  var closes = false
  /// When it is worth to ask again, seconds.
  var retryAfter: Int?

  /// JSON.
  static func json(_ text: String, status: Int = 200) -> WholeAnswer {
    json(Array(text.utf8), status: status)
  }

  /// A JSON object.
  static func json(_ object: RecordText, status: Int = 200) -> WholeAnswer {
    json(object.bytes, status: status)
  }

  /// JSON that is already bytes.
  static func json(_ bytes: [UInt8], status: Int = 200) -> WholeAnswer {
    WholeAnswer(status: status, type: "application/json", body: bytes)
  }

  /// Says when it is worth to ask again.
  func retrying(after seconds: Int) -> WholeAnswer {
    var answer = self
    answer.retryAfter = seconds
    return answer
  }

  /// `{"error":"..."}`.
  static func error(_ text: String, status: Int) -> WholeAnswer {
    json(RecordText().string("error", text), status: status)
  }

  /// The dashboard's own refusals, byte for byte (Agent/Clanky/CONTRACT.md 1.1 and 1.2).
  static let unauthorized = error("Unauthorized. Provide x-dashboard-token.", status: 401)
  /// A GET of a path that is not there.
  static let noSuchPath = WholeAnswer(
    status: 404, type: "text/plain; charset=UTF-8", body: Array("Not found.".utf8))
  /// Any other method where there is nothing.
  static let noSuchMethod = error("Not found.", status: 404)
  /// A POST of a web page to a server without a token.
  static let foreignOrigin = error("cross_origin_post_needs_a_token", status: 403)
  /// A request for a name that is not this server's.
  static let misdirected = error("misdirected_request", status: 421)
  /// A body that says it is JSON and is not.
  static let invalidJSON = WholeAnswer(
    status: 400, type: "application/json;charset=utf-8",
    body: Array(#"{"error":"invalid_json_body"}"#.utf8))
  /// A body over the limit.
  static let tooLarge = error("payload_too_large", status: 413)

  /// More is asked for than can be done at a time.
  static let busy = error("too busy", status: 503).retrying(after: 2)

  /// The head that goes before the body (RFC 9112, section 4).
  ///
  /// - Parameter now: when it is sent.
  func head(now: Timestamp = .now()) -> HTTPResponseHead {
    var headers = HTTPHeaders([("Date", now.httpDate)])
    // An answer without content has neither (RFC 9110, section 8.6).
    if status != 204 {
      headers.add(name: "Content-Type", value: type)
      headers.add(name: "Content-Length", value: "\(body.count)")
    }
    if let retryAfter { headers.add(name: "Retry-After", value: "\(retryAfter)") }
    if closes { headers.add(name: "Connection", value: "close") }
    return HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: status), headers: headers)
  }
}

extension Timestamp {
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
