import FlyingFox

/// The body of a request, read to its end whatever becomes of it: the next
/// request on the connection begins behind it.
enum RequestBody {
  /// The dashboard's limit (contract, 1.2).
  static let limit = 7 * 1024 * 1024
  /// What is read and thrown away beyond it before the connection is given up.
  private static let patience = 64 * 1024 * 1024

  /// What was read.
  enum Outcome: Equatable {
    /// All of it.
    case whole([UInt8])
    /// More than the limit; the connection can go on when `isDrained`.
    case tooLarge(isDrained: Bool)
    /// It broke off, or its framing is wrong.
    case broken
  }

  /// - Parameters:
  ///   - request: the request.
  ///   - keeps: false when only its end is wanted.
  static func read(_ request: HTTPRequest, keeps: Bool) async -> Outcome {
    var bytes: [UInt8] = []
    var count = 0
    let declared = request.headers[.contentLength].flatMap { Int($0) } ?? 0
    if declared > patience { return .tooLarge(isDrained: false) }
    if request.headers[HTTPHeader("Expect")]?.lowercased() == "100-continue" {
      if declared > limit { return .tooLarge(isDrained: false) }
      let connection = Connection(of: request)
      connection.send("HTTP/1.1 100 Continue\r\n\r\n")
    }
    do {
      for try await chunk in request.bodySequence {
        count += chunk.count
        if count > patience { return .tooLarge(isDrained: false) }
        if keeps && count <= limit { bytes.append(contentsOf: chunk) }
      }
    } catch {
      return .broken
    }
    return count > limit ? .tooLarge(isDrained: true) : .whole(bytes)
  }
}
