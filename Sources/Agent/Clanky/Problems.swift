import Core
import Web

extension Backend {
  /// What is wrong with an answer (Agent/Clanky/CONTRACT.md 1.1 and 1.2): JSON
  /// with `error` or `reason`, plain text, or the page
  /// of whatever stands before the backend.
  ///
  /// - Parameters:
  ///   - head: of the response behind all redirects.
  ///   - body: its body, or the beginning of it.
  ///   - method: the verb of the request.
  /// - Returns: nil for 2xx; whether its body makes sense is the caller's to see.
  public func problem(
    of head: ResponseHead, _ body: [UInt8], method: String = "GET"
  ) -> AnswerProblem? {
    if (200...299).contains(head.status) { return nil }
    let answer = ErrorBody(head, body)
    func line(_ reason: String?) -> String {
      reason.map { "\(head.summary): \($0)" } ?? head.summary
    }
    switch head.status {
    case 401, 403:
      // A page is of whoever stands before the backend, and no word on its token.
      if answer.isPage { return AnswerProblem(line(ErrorBody.page), .denied) }
      return AnswerProblem("\(head.summary): \(refusal)", .denied)
    case 404 where answer.isHidden && method == "GET":
      // Locally a path that is not there answers a GET in plain text.
      return AnswerProblem(
        "\(head.summary): a tunnel answers so when \(refusal)", .denied)
    case 404 where answer.isHidden && base.scheme == "https":
      return AnswerProblem(
        "\(head.summary): no such path for \(method), or \(refusal)", .denied)
    case 404 where answer.refuses: return AnswerProblem(line(answer.reason), .negative)
    case 404 where answer.reason == nil || answer.isHidden || answer.isNotFound:
      return AnswerProblem("\(head.summary): no such path", .failure)
    case 409: return AnswerProblem(line(answer.reason), .negative)
    case 413:
      return AnswerProblem("\(head.summary): the body is too large for the backend", .failure)
    case 503 where answer.reason == ErrorBody.tokenRequired:
      return AnswerProblem(
        "\(head.summary): the backend has a public tunnel and no token of its own"
          + " (\(ErrorBody.tokenRequired))", .denied)
    case let code where answer.isPage && ErrorBody.tunnelCodes.contains(code):
      return AnswerProblem(
        "\(head.summary): the tunnel's page: the backend is asleep or out of reach", .temporary)
    default:
      let reason = answer.isPage ? ErrorBody.page : answer.reason
      return AnswerProblem(line(reason), head.isTransient ? .temporary : .failure)
    }
  }
}

/// What can be read in the body of an error.
private struct ErrorBody {
  static let tokenRequired = "dashboard_token_required_when_public_https_enabled"
  static let page = "a page, not the backend's answer"
  /// What Cloudflare answers for a host behind it that it cannot reach.
  static let tunnelCodes = [502, 504] + Array(520...530)

  /// The backend's own word, nil when there is none.
  var reason: String?
  /// An HTML page.
  var isPage = false
  /// `{"error":"Not found."}`: what the tunnel's guard answers.
  var isHidden = false
  /// `Not found.` in plain text.
  var isNotFound = false
  /// `{"ok":false,...}`: the request was understood.
  var refuses = false

  init(_ head: ResponseHead, _ body: [UInt8]) {
    let type = head.value("Content-Type")?.lowercased() ?? ""
    let text = String(decoding: body.prefix(64 * 1024), as: UTF8.self)
    if type.holds("html") || text.trimmed.lowercased().hasPrefix("<") {
      isPage = true
      return
    }
    guard let value = try? body.withUnsafeBytes({ try JSONValue.parse($0) }) else {
      let first = text.trimmed.split(whereSeparator: \.isNewline).first.map(String.init)
      reason = first.map(head.quoted)
      isNotFound = first == "Not found."
      return
    }
    let words = value[either: "error", "reason", "message"]
    let word = words?.string ?? words?["message"]?.string ?? words?.compact(limit: 4096)
    reason = word.map(head.quoted)
    isHidden = value["error"]?.string == "Not found." && value["ok"] == nil
    refuses = value["ok"]?.bool == false
    if value["ok"] == nil, value["accepted"]?.bool == false { refuses = true }
  }
}

extension String {
  fileprivate var trimmed: Substring {
    let head = drop { $0.isWhitespace }
    return head.lastIndex { !$0.isWhitespace }.map { head[...$0] } ?? ""
  }
}
