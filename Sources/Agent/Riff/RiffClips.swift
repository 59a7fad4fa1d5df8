import CLibc
public import Core
import Web

/// What was said in a clip, asked of a riff voice server (Agent/Riff/CONTRACT.md 2).
public final class RiffClips {
  /// The largest clip that a server takes, bytes.
  public static let largest = 25 << 20

  private static let tries = 3

  private let agent: AgentAccess
  private let diagnostics: Diagnostics
  private let deadline: Double
  private let timeout: Double

  /// - Parameter timeout: for all tries together, seconds.
  public init(_ agent: AgentAccess, timeout: Double, diagnostics: Diagnostics) {
    self.agent = agent
    self.diagnostics = diagnostics
    self.timeout = timeout
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
    var request: Request
    request = try agent.backend.request("riff/transcribe-only", method: "POST", body: clip)
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
    var wait = 1.0
    for number in 1... {
      let (head, body) = try answer(to: request, place)
      guard let problem = agent.backend.problem(of: head, body, method: "POST") else {
        return try transcript(body, head, place)
      }
      let isBusy = head.status == 502 || head.status == 503
      let isOver = number == Self.tries || Clock.monotonic + wait >= deadline
      if !isBusy || isOver {
        throw Failure(place, problem.message, isBusy ? .temporary : problem.status)
      }
      diagnostics.note("\(place): \(problem.message); again in \(Latency.seconds(wait)) s")
      usleep(UInt32(wait * 1_000_000))
      wait *= 2
    }
    throw Failure(place, "no answer", .temporary)
  }

  private func transcript(
    _ body: [UInt8], _ head: ResponseHead, _ place: String
  ) throws(Failure) -> String {
    let json = try? JSONValue.parse(body)
    guard let text = json?["transcript"]?.string else {
      throw Failure(place, "\(head.summary): no transcript in the answer", .failure)
    }
    return text
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
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "agentutils" }
    let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let kept = bytes.map { $0.isOfName ? $0 : 45 }
    return kept.isEmpty ? "agentutils" : String(decoding: kept.prefix(64), as: UTF8.self)
  }
}
