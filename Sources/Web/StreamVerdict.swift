import Core

/// What a response means for the stream (WHATWG HTML 9.2.3, with the wish of every
/// user of a tunnel that an overloaded server is asked again).
public enum StreamVerdict: Equatable, Sendable {
  /// The stream is open.
  case open
  /// 204: the server wants no further connection.
  case noContent
  /// An answer that a later try would not better.
  case failed(AnswerProblem)
  /// 408, 425, 429 or 5xx: try again, not before that many seconds.
  case retry(String, after: Double?)

  /// Judges the head of a final response.
  ///
  /// - Parameter head: of the response behind all redirects.
  /// - Returns: nil for an error, of which the body tells more.
  public static func judge(_ head: ResponseHead) -> StreamVerdict? {
    switch head.status {
    case 200 where head.isEventStream: .open
    case 200:
      .failed(
        AnswerProblem("\(head.summary): not an event stream: \(head.typeText)", .failure))
    case 204: .noContent
    case 201...299: .failed(AnswerProblem(head.summary, .failure))
    default: nil
    }
  }

  /// Judges an error by the rule for single requests.
  ///
  /// - Parameters:
  ///   - problem: what the rule says of it.
  ///   - head: of the response.
  ///   - now: seconds since 1970, for a date in `Retry-After`.
  public static func judge(
    _ problem: AnswerProblem, _ head: ResponseHead, now: Double
  ) -> StreamVerdict {
    guard problem.status == .temporary else { return .failed(problem) }
    let wait = head.value("Retry-After").flatMap { RetryAfter.seconds($0, now: now) }
    return .retry(problem.line, after: wait)
  }
}
