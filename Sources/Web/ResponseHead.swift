import CCurl
import Core

/// The status line and header fields of a final response (RFC 9112).
public struct ResponseHead: Sendable, Equatable {
  /// The status code.
  public let status: Int
  /// The reason phrase, empty in HTTP/2.
  public let reason: String
  /// The fields in the order they came.
  public internal(set) var headers: [Header] = []
  /// What must not be quoted from this answer.
  var mask = SecretMask()

  /// Reads a status line.
  ///
  /// - Returns: nil when the line is none.
  public init?(statusLine line: String) {
    let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard words.count >= 2, words[0].hasPrefix("HTTP/"), let status = Int(words[1]) else {
      return nil
    }
    self.status = status
    reason = words.count > 2 ? String(words[2]) : ""
  }

  /// The value of the last field of that name, in any case.
  public func value(_ name: String) -> String? {
    headers.last { $0.isNamed(name) }?.value
  }

  /// Adds a field as it was received. A line that begins with a blank goes on with the value
  /// of the last one (RFC 9112, 5.2); one without a colon is no field.
  mutating func add(receivedLine line: String) {
    guard let first = line.utf8.first, first == 0x20 || first == 0x09 else {
      if let header = Header(receivedLine: line) { headers.append(header) }
      return
    }
    guard let last = headers.popLast() else { return }
    headers.append(Header(last.name, (last.value + " " + line.trimmingBlanks).trimmingBlanks))
  }

  /// Whether the media type is `text/event-stream`, whatever its case and
  /// parameters (WHATWG HTML 9.2.3; the essence of MIME Sniffing 4). Of several the last one
  /// counts (Fetch, “extract a MIME type”).
  public var isEventStream: Bool {
    let types = headers.filter { $0.isNamed("Content-Type") }.flatMap { Self.types(in: $0.value) }
    return types.last { $0.contains("/") && $0 != "*/*" } == "text/event-stream"
  }

  /// The media types of a list, without their parameters; a comma may stand in quotes.
  private static func types(in list: String) -> [String] {
    var (types, isQuoted, isEscaped): ([[UInt8]], Bool, Bool) = ([[]], false, false)
    for byte in list.utf8 {
      if byte == UInt8(ascii: ","), !isQuoted {
        types.append([])
        continue
      }
      if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
      isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\")
      types[types.count - 1].append(byte)
    }
    return types.map { type in
      let essence = type.prefix { $0 != UInt8(ascii: ";") }
      return String(decoding: essence, as: UTF8.self).trimmingBlanks.lowercased()
    }
  }

  /// Whether the status is one of the five that Fetch follows.
  public var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }

  /// Whether a later try may be answered better: 408, 425, 429 and 5xx.
  public var isTransient: Bool {
    status == 408 || status == 425 || status == 429 || (500...599).contains(status)
  }

  /// `404 Not Found`.
  public var summary: String { reason.isEmpty ? "\(status)" : "\(status) \(quoted(reason))" }

  /// The media type, for messages.
  public var typeText: String { value("Content-Type").map(quoted) ?? "no content type" }

  /// What the server's clock says, seconds since 1970; nil when it does not tell.
  public var date: Double? {
    value("Date").flatMap(RetryAfter.date)
  }

  /// How long the server asks to wait (`Retry-After`), seconds; nil when it does not. A date is
  /// one of the server's clock, and so counts from what that says.
  ///
  /// - Parameter now: seconds since 1970, for an answer without a date of its own.
  public func wait(now: Double) -> Double? {
    value("Retry-After").flatMap { RetryAfter.seconds($0, now: date ?? now) }
  }

  /// Scalars: more is of no use in one line.
  private static let longestQuote = 300

  /// A text of this answer, head or body, as a message may quote it: short, and
  /// without the secrets of the request. Nothing else of an answer goes into a message.
  public func quoted(_ text: String) -> String {
    let safe = mask.hide(text)
    let rest = safe.unicodeScalars.dropFirst(Self.longestQuote)
    return rest.isEmpty ? safe : safe[..<rest.startIndex] + "…"
  }
}

extension StringProtocol {
  /// On bytes: a combining mark may follow a blank and must not hide it.
  var trimmingBlanks: String {
    String(decoding: Substring(self).utf8.trimming { $0 == 32 || $0 == 9 }, as: UTF8.self)
  }
}

/// The `Retry-After` field of RFC 9110, section 10.2.3.
public enum RetryAfter {
  /// The longest wait that a server is granted, seconds.
  public static let limit = 86400.0

  /// The seconds to wait.
  ///
  /// - Parameters:
  ///   - value: seconds, or an HTTP date in any of its three forms.
  ///   - now: seconds since 1970, by the clock that the date is of.
  /// - Returns: 0 or more, at most `limit`; nil when the value is neither.
  public static func seconds(_ value: String, now: Double) -> Double? {
    let text = value.trimmingBlanks
    if !text.isEmpty && text.utf8.allSatisfy({ (48...57).contains($0) }) {
      return min(Double(text) ?? limit, limit)
    }
    return date(text).map { min(max($0 - now, 0), limit) }
  }

  /// Reads an HTTP date, in any of its three forms, as seconds since 1970. Each has a time of day:
  /// libcurl takes some numbers for dates.
  static func date(_ text: String) -> Double? {
    let seconds = text.utf8.contains(58) ? curl_getdate(text, nil) : -1
    return seconds < 0 ? nil : Double(seconds)
  }
}
