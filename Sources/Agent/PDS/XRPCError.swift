import Core
import Web

/// An answer of a server other than success (Agent/PDS/CONTRACT.md 2).
struct XRPCError: Error {
  let status: Int
  /// The error's name, empty where the server is one that answers in plain text.
  let name: String
  let message: String
  /// How long the server asks to wait, seconds.
  let wait: Double?
  /// Whether the answer is a page: it is not from a server of this protocol.
  let isPage: Bool
  private let summary: String
  /// Whether the answer is words, neither an object nor a page.
  private let isPlain: Bool

  /// `body`: of the answer, or its beginning; `now`: seconds since 1970.
  init(_ head: ResponseHead, _ body: [UInt8], now: Double) {
    status = head.status
    summary = head.summary
    let json = JSONValue(body)
    name = json?["error"]?.string.map(head.quoted) ?? ""
    isPage = Self.isPage(head, body)
    if json?.isObject == true {
      message = json?["message"]?.string.map(head.quoted) ?? ""
      isPlain = false
    } else {
      let text = String(decoding: body.prefix(4096), as: UTF8.self)
      isPlain = !isPage && text.contains { !$0.isWhitespace }
      let line = text.split(whereSeparator: \.isNewline).first ?? ""
      message = isPage ? "a page, not a server's answer" : head.quoted(String(line))
    }
    let reset = head.value("RateLimit-Reset").flatMap { Int64($0) }.map { Double($0) }
    wait =
      head.wait(now: now)
      ?? reset.map { min(max($0 - (head.date ?? now), 0), RetryAfter.limit) }
  }

  /// Whether an answer is one for people, from somebody on the way: a portal where one logs in
  /// to the network, or a proxy.
  static func isPage(_ head: ResponseHead, _ body: [UInt8]) -> Bool {
    let first = body.first { ![9, 10, 13, 32].contains($0) }
    let type = head.value("Content-Type")?.lowercased() ?? ""
    if first == UInt8(ascii: "<") { return true }
    return first != UInt8(ascii: "{")
      && ["text/html", "application/xhtml"].contains { type.hasPrefix($0) }
  }

  /// `400 Bad Request: InvalidSwap: record was at bafy...`.
  var line: String {
    ([summary] + [name, message].filter { !$0.isEmpty }).joined(separator: ": ")
  }

  var isTransient: Bool {
    status == 408 || status == 425 || status == 429 || status >= 500 && !isMethodMissing
  }

  /// Whether a log-in that was refused so may be good under the account's other name.
  var mayKnowOtherName: Bool {
    (status == 400 || status == 401) && !isAboutAccount && name != "AuthFactorTokenRequired"
  }

  /// Whether the server fails at what it was asked, which it may do for ever: the reference server
  /// says so of records that it keeps and cannot write out, too.
  var isInternal: Bool { status == 500 && name == "InternalServerError" }

  var isTokenRefused: Bool {
    ["ExpiredToken", "InvalidToken"].contains(name) || isLoginWanted
  }

  var isLoginWanted: Bool {
    status == 401 && (name.isEmpty || name.hasPrefix("Auth") || name == "Unauthorized")
  }

  /// Whether it is about the account, whatever was asked for: nothing that waits may be given up
  /// for it, as it may end.
  var isAboutAccount: Bool {
    if name == "AccountNotFound" { return true }
    return ["Account", "Repo"].contains { whose in
      ["Deactivated", "Takedown", "Takendown", "Suspended"].contains { name == whose + $0 }
    }
  }

  /// Whether the server says that there is no such repository, as it also does of one whose
  /// account is not active.
  var isRepositoryAbsence: Bool {
    name == "RepoNotFound"
      || name == "InvalidRequest"
        && ["Could not find repo", "Could not locate record"].contains { message.hasPrefix($0) }
  }

  var isConflict: Bool { name == "InvalidSwap" }

  /// Whether it says of a record or a repository that there is none. Some servers say that of
  /// a record with a status of their own and in plain text; a page says nothing of it.
  var isAbsence: Bool {
    ["RecordNotFound", "RepoNotFound"].contains(name)
      || message.hasPrefix("Could not locate record") || message.hasPrefix("Could not find repo")
      || status == 404 && name != "MethodNotImplemented" && Self.isName(name)
      || isPlain && (status == 401 || status == 404)
  }

  /// Whether it is what servers of this protocol call an error: one word.
  private static func isName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { ($0 | 32) >= 97 && ($0 | 32) <= 122 }
  }

  /// Whether the server has no such call; a page is what a web server has there.
  var isMethodMissing: Bool {
    name == "MethodNotImplemented" || (200...299).contains(status)
      || name == "InvalidRequest" && message.hasPrefix("No service configured")
      || [404, 405, 426, 501].contains(status)
  }

  var problem: Failure { Failure(line, exit) }

  var exit: ExitStatus {
    if isConflict { return .negative }
    if isTransient || isPage { return .temporary }
    return isTokenRefused || isAboutAccount || status == 401 || status == 403 ? .denied : .failure
  }
}

extension String {
  /// The longest that a message quotes of somebody else's words, scalars.
  private static let longestQuote = 300

  var cut: String {
    guard
      let end = unicodeScalars.index(
        unicodeScalars.startIndex, offsetBy: Self.longestQuote, limitedBy: unicodeScalars.endIndex),
      end < unicodeScalars.endIndex
    else { return self }
    return String(unicodeScalars[..<end]) + "…"
  }
}
