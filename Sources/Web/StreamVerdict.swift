import Core

/// What the head of a stream's response means for the stream
/// (WHATWG HTML 9.2.3, with the wish of every user of a tunnel that an
/// overloaded server is asked again).
public enum StreamVerdict: Equatable, Sendable {
  /// The stream is open.
  case open
  /// 204: the server wants no further connection.
  case noContent
  /// 401 or 403; the reason for people.
  case denied(String)
  /// Any other answer that a later try would not better; the reason for people.
  case failed(String)
  /// 408, 425, 429 or 5xx: try again, not before that many seconds.
  case retry(String, after: Double?)

  /// Judges the head of a final response.
  ///
  /// - Parameters:
  ///   - head: of the response behind all redirects.
  ///   - now: seconds since 1970, for a date in `Retry-After`.
  public static func judge(_ head: ResponseHead, now: Double) -> StreamVerdict {
    if head.status == 200 {
      if head.isEventStream { return .open }
      let type = head.value("Content-Type") ?? "no content type"
      return .failed("\(head.summary): not an event stream: \(type)")
    }
    if head.status == 204 { return .noContent }
    if head.status == 401 || head.status == 403 { return .denied(head.summary) }
    if head.isTransient {
      let wait = head.value("Retry-After").flatMap { RetryAfter.seconds($0, now: now) }
      return .retry(head.summary, after: wait)
    }
    return .failed(head.summary)
  }
}
