import CLibc
public import Core
import Web

/// What was said in a clip, asked of a riff voice server (Agent/Riff/CONTRACT.md 2).
public final class RiffClips {
  /// The largest clip that a server takes, bytes.
  public static let largest = 25 << 20

  /// Behind the last of three tries, seconds: each waits twice as long as the one before.
  private static let longestWait = 2.0

  private let agent: AgentAccess
  private let diagnostics: Diagnostics
  private let deadline: Double
  private let timeout: Double

  /// - Parameter timeout: for all tries together, seconds.
  public init(_ agent: AgentAccess, timeout: Double, diagnostics: Diagnostics) {
    (self.agent, self.diagnostics, self.timeout) = (agent, diagnostics, timeout)
    deadline = Clock.monotonic + timeout
  }

  /// Sends a clip as it is, and waits for its text.
  ///
  /// Only an answer that says so is a reason to send it again: a clip that arrived may have
  /// been paid for, whatever became of the answer.
  ///
  /// - Parameter format: what they are, `wav`, `m4a`, `ogg` or `aac`.
  /// - Returns: the text as the server has it; empty when nothing was said.
  public func text(
    of clip: [UInt8], format: String, time: Timestamp
  ) throws(Failure) -> String {
    var request = try agent.backend.request("riff/transcribe-only", method: "POST", body: clip)
    request.followsRedirects = false
    request.headers.removeAll { $0.isNamed("Content-Type") }
    request.headers += [
      Header("Content-Type", "application/octet-stream"),
      Header("X-Riff-Device-Id", Self.device),
      Header("X-Riff-Session-Id", "agentutils"),
      Header("X-Riff-Ts", "\(time.seconds)"),
      Header("X-Riff-Audio-Format", format),
    ]
    let place = request.address.display
    diagnostics.note("POST \(place), \(clip.count) bytes")
    // The same clip again, and no link: so it waits by itself.
    var wait = 1.0
    while true {
      let (head, body) = try answer(to: request, place)
      guard let problem = agent.backend.problem(of: head, body, method: "POST") else {
        if let text = JSONValue(body)?["transcript"]?.string { return text }
        throw Failure(place, "\(head.summary): no transcript in the answer", .failure)
      }
      let isBusy = head.status == 502 || head.status == 503
      guard isBusy, wait <= Self.longestWait, Clock.monotonic + wait < deadline else {
        throw Failure(place, problem.message, isBusy ? .temporary : problem.status)
      }
      diagnostics.note("\(place): \(problem.message); again in \(Latency.seconds(wait)) s")
      usleep(UInt32(wait * 1_000_000))
      wait *= 2
    }
  }

  private func answer(
    to request: Request, _ place: String
  ) throws(Failure) -> (ResponseHead, [UInt8]) {
    var fetches = Fetches(Waiter(agent.client), [request], limit: 1 << 20, until: deadline)
    switch try? fetches.next()?.end {
    case .response(let head, let body): return (head, body)
    case .failed(let reason): throw Failure(place, reason, .temporary)
    case .unusable(let failure): throw Failure(place, failure)
    case .late, nil:
      throw Failure(
        place, "no whole answer in \(Latency.seconds(timeout)) s; see --timeout", .temporary)
    }
  }

  /// This machine's name, of what an id may have (Agent/Riff/CONTRACT.md 3).
  private static var device: String {
    let kept = hostName.utf8.map { $0.isOfName ? $0 : 45 }
    return kept.isEmpty ? "agentutils" : String(decoding: kept.prefix(64), as: UTF8.self)
  }
}

/// What a riff voice server reads aloud: each finished turn as audio, as soon as there is one
/// (Agent/Riff/CONTRACT.md 4).
public final class RiffNarration {
  /// A turn, read aloud.
  public struct Piece: Sendable {
    /// When the turn ended, seconds since 1970, as the server spells it.
    public let time: Double
    /// An MP3 file.
    public let audio: [UInt8]
    /// How many characters are read; nil when the server does not say.
    public let characters: Int?
  }

  /// What became of a question.
  public enum News {
    /// A turn that is newer than the last one.
    case piece(Piece)
    /// None.
    case nothing
    /// An answer that makes no sense, or none: one line, and the status where it is asked no
    /// more. It is asked again.
    case trouble(String, ExitStatus)
    /// A turn that cannot be heard; one line. What ends after it is asked for.
    case skipped(String)
  }

  /// A larger answer is none, bytes. As an MP3 two minutes of speech have two million, but
  /// agent-serve(8) sends up to 16 MiB of sound, in Base64.
  static let largest = 24 << 20
  /// A server that answers at once is not asked more often, seconds.
  private static let pace = 0.5
  /// Seconds without a byte: the server holds the request for 25.
  private static let silence = 45.0

  private let agent: AgentAccess
  private let directory: String
  private let diagnostics: Diagnostics
  private var after: Double
  private var fetch: Fetch?
  private var place = ""
  /// Of questions one by one, which no link carries: only their waits are those of links.
  private var backoff = Backoff(base: 0.25, cap: 30)
  private var next = 0.0

  /// - Parameters:
  ///   - slug: the folder whose turns are wanted, see `slug(of:)`; nil for any.
  ///   - after: only turns that ended later, seconds since 1970.
  public init(_ agent: AgentAccess, slug: String?, after: Double, diagnostics: Diagnostics) {
    (self.agent, self.after, self.diagnostics) = (agent, after, diagnostics)
    directory = slug.map { "&cwd_slug=" + QueryText.part($0) } ?? ""
  }

  /// A folder as Claude Code names it: `/srv/my.site` is `-srv-my-site`.
  public static func slug(of folder: String) -> String {
    String(
      folder.unicodeScalars.map { scalar in
        scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
          ? Character(scalar) : "-"
      })
  }

  /// Ends the question that is under way.
  public func stop() { fetch = nil }

  /// Asks when it is time to, and takes an answer that is there; the client is to be performed
  /// before.
  ///
  /// - Parameter now: seconds of `Clock.monotonic`.
  /// - Returns: what an answer said; nil while there is none.
  /// - Throws: `Failure` where no later question betters it.
  public func work(now: Double) throws(Failure) -> News? {
    if fetch == nil, now >= next { try ask(now) }
    _ = fetch?.due(now)
    guard let end = fetch?.end else { return nil }
    let isTooLarge = fetch?.isTooLarge == true
    fetch = nil
    switch end {
    case .failed(let reason): return trouble(reason, now)
    case .late: return trouble("no answer", now)
    case .unusable(let failure) where isTooLarge:
      // Which turn it is was not read: a later one takes its place.
      next = now + backoff.next(random: .random(in: 0..<1))
      return .skipped("\(place): \(failure.reason)")
    case .unusable(let failure): throw Failure(place, failure)
    case .response(let head, let body):
      if let problem = agent.backend.problem(of: head, body) {
        let isBusy = [429, 502, 503, 504].contains(head.status)
        guard isBusy else { throw Failure(place, problem.message, problem.status) }
        return trouble(problem.message, now)
      }
      guard head.status != 204 else {
        backoff.reset()
        return .nothing
      }
      return news(head, body, now)
    }
  }

  /// When `work` is to be called again at the latest, seconds of `Clock.monotonic`.
  public func wakeUp(now: Double) -> Double {
    fetch?.due(now) ?? next
  }

  private func ask(_ now: Double) throws(Failure) {
    let path = "riff/narrate-poll?after=\(NumberText.of(after))\(directory)"
    var request = try agent.backend.request(path)
    // Another server must not learn in which folder somebody works, nor say what is played.
    request.staysAtOrigin = true
    place = request.address.display
    diagnostics.note("GET \(place), after \(NumberText.of(after))")
    next = now + Self.pace
    fetch = Fetch(agent.client, request, now: now, silence: Self.silence, limit: Self.largest)
  }

  private func news(_ head: ResponseHead, _ body: [UInt8], _ now: Double) -> News {
    guard let json = try? JSONValue.parse(body), let time = json["ts"]?.number, time.isFinite,
      time >= 0, time < 1e11
    else {
      let answer = ErrorAnswer(head, body, method: "GET")
      let reason = answer.isPage ? answer.reason : nil
      return trouble(reason ?? "no time in the answer", now, .failure)
    }
    // Told before: a server that says it again and again must not keep us busy.
    guard time > after else {
      next = max(next, now + backoff.next(random: .random(in: 0..<1)))
      return .nothing
    }
    // Whatever is wrong with it: the same question would have the same answer.
    after = time
    guard let code = json["audio_b64"]?.string,
      let audio = Array(code.utf8).withUnsafeBytes({ Base64.bytes(of: $0) }), !audio.isEmpty
    else {
      return .skipped("\(place): no audio of the turn of \(NumberText.of(time)) in the answer")
    }
    backoff.reset()
    return .piece(
      Piece(time: time, audio: audio, characters: json["chars"]?.integer.map { Int($0) }))
  }

  private func trouble(
    _ reason: String, _ now: Double, _ status: ExitStatus = .temporary
  ) -> News {
    let wait = backoff.next(random: .random(in: 0..<1))
    next = now + wait
    return .trouble("\(place): \(reason)", status)
  }
}
