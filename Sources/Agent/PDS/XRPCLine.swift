import CLibc
import Core
import Web

/// How long a server is asked for one thing, and how often.
public struct PDSLimits: Sendable {
  /// Seconds for a call with all its tries.
  let timeout: Double
  /// The most tries after the first.
  let maxRetries: Int
  /// The option that sets the time.
  let option: String

  /// A minute, seven tries, where nothing else is given.
  public init(timeout: Double? = nil, maxRetries: Int? = nil, option: String = "--timeout") {
    (self.timeout, self.maxRetries, self.option) = (timeout ?? 60, maxRetries ?? 6, option)
  }
}

/// Calls of a server, one at a time, each asked again while the server is busy or away.
final class XRPCLine {
  typealias Reply = Result<(head: ResponseHead, body: [UInt8]), XRPCError>

  /// The longest wait for one answer, seconds.
  private static let longestTry = 30.0
  /// The largest answer, bytes: a hundred records.
  private static let largest = 128 << 20

  private let client: WebClient
  private let limits: PDSLimits
  private let diagnostics: Diagnostics
  private var deadline = 0.0
  /// The tries so far of which nobody knows whether they arrived.
  private(set) var unanswered = 0
  /// Whether the last call was answered by a page.
  private(set) var metPage = false
  /// How often a server fails at something to be read before it is taken for good.
  private static let mostFaultsOfReads = 3

  init(_ client: WebClient, _ limits: PDSLimits, _ diagnostics: Diagnostics) {
    (self.client, self.limits, self.diagnostics) = (client, limits, diagnostics)
  }

  /// Calls, and waits. Whatever is sent here must do no harm when it arrives twice.
  ///
  /// - Parameter isAny: whether an answer may be anything, also a page.
  func call(
    _ request: Request, mostFaults: Int = .max, isAny: Bool = false
  ) throws(Failure) -> Reply {
    var faults = 0
    metPage = false
    let place = request.address.display
    deadline = Clock.monotonic + limits.timeout
    var backoff = Backoff(base: 1, cap: 60, jitter: 0.1)
    while true {
      var reason: String
      var wait: Double?
      diagnostics.note("\(request.method) \(place)")
      let start = Clock.monotonic
      var fetches = Fetches(
        CallWaiter(client), [request], limit: Self.largest,
        until: min(deadline, start + Self.longestTry))
      switch try? fetches.next()?.end {
      case .failed(let words): reason = words
      case .late, nil:
        let seconds = Latency.seconds((Clock.monotonic - start).rounded())
        reason = "no whole answer in \(seconds) s"
      case .unusable(let failure): throw Failure(place, failure)
      case .response(let head, let body):
        // Where a call with a secret would go on; it does not follow.
        let target = head.isRedirect ? head.value("Location") : nil
        let origin = target.flatMap { try? request.address.resolving($0).origin }
        let isElsewhere = origin != nil && origin != request.address.origin
        if isElsewhere, ![302, 303].contains(head.status) {
          throw Failure(place, "\(head.summary): bad location: to another server", .failure)
        }
        // Neither asks for the same call again: so a portal leads to its own page.
        let isPage = isElsewhere || XRPCError.isPage(head, body)
        if (200...299).contains(head.status), isAny || !isPage { return .success((head, body)) }
        let error = XRPCError(head, body, now: Clock.unix)
        // What comes is not from the server, who is as good as away.
        if isPage, !error.isTransient {
          metPage = true
          let words = isElsewhere ? "\(head.summary): to another server" : error.line
          throw Failure(place, words, .temporary)
        }
        if !error.isTransient { return .failure(error) }
        if error.status == 500 { faults += 1 }
        let isForGood = error.isInternal && request.method == "GET"
        if faults >= (isForGood ? min(mostFaults, Self.mostFaultsOfReads) : mostFaults) {
          return .failure(error)
        }
        (reason, wait) = (error.line, error.wait)
      }
      unanswered += 1
      // No server is asked again at once, even where it says so.
      let pause = max(wait ?? 0, backoff.next(random: Double.random(in: 0..<1)))
      try pauseOrGiveUp(pause, tries: backoff.count, place, reason)
    }
  }

  private func pauseOrGiveUp(
    _ pause: Double, tries: Int, _ place: String, _ reason: String
  ) throws(Failure) {
    if tries > limits.maxRetries {
      throw Failure(place, "gave up after \(tries - 1) retries: \(reason)", .temporary)
    }
    guard Clock.monotonic + pause < deadline else {
      let words = "again in \(Int(pause.rounded(.up))) s, too late for \(limits.option)"
      throw Failure(place, "\(reason) (\(words))", .temporary)
    }
    diagnostics.note("\(place): \(reason); again in \(Latency.short(pause)) s")
    let until = Clock.monotonic + pause
    while case let left = until - Clock.monotonic, left > 0 {
      usleep(UInt32(min(left, 60) * 1_000_000))
      Self.handleSignals()
    }
  }

  private final class CallWaiter: Waiter {
    override var files: [pollfd] { Self.reading(EndSignals.descriptor) }
    override func hasWaited() { XRPCLine.handleSignals() }
  }

  /// A call has nothing to leave in order: a signal that is watched ends the process here, too.
  private static func handleSignals() {
    if let signal = EndSignals.next() { Process.die(by: signal) }
  }
}

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
