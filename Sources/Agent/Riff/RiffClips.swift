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
