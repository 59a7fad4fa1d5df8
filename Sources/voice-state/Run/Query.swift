import Agent
import Core
import Web

/// Why the backend's answer could not be had: one line, and how to leave.
struct QueryFailure: Reported {
  let what: String
  let reason: String
  let status: ExitStatus
  var message: String { "\(what): \(reason)" }
}

/// Single requests to the backend, one after the other.
final class Query {
  let backend: AgentServer
  let client: WebClient
  private let silence: Double

  /// - Parameter options: the profile, the token, the time-out.
  /// - Throws: `SettingsError`.
  init(_ options: StateOptions, _ diagnostics: Diagnostics) throws(SettingsError) {
    let agent = try AgentAccess(options.access, for: .voice, diagnostics: diagnostics)
    backend = agent.backend
    client = agent.client
    // 0 is never.
    let idle = options.reconnect.idleTimeout ?? 45
    silence = min(idle == 0 ? .infinity : idle, options.reconnect.maxTime ?? .infinity)
  }

  /// The body of an answer of the backend.
  ///
  /// - Parameter path: behind the base.
  /// - Throws: `QueryFailure`.
  func get(_ path: String) throws(QueryFailure) -> [UInt8] {
    let request: Request
    do throws(SettingsError) { request = try backend.request(path) } catch {
      throw QueryFailure(what: path, reason: error.message, status: error.status)
    }
    var result: FetchEnd?
    let fetch = Fetch(client, request, now: Clock.monotonic, silence: silence) { result = $0 }
    while result == nil {
      client.perform()
      if result != nil { break }
      let next = fetch.tick(now: Clock.monotonic)
      if result != nil { break }
      client.wait(seconds: next - Clock.monotonic)
    }
    return try body(result, path)
  }

  /// - Throws: `QueryFailure` for anything but a body with success.
  func body(_ end: FetchEnd?, _ path: String) throws(QueryFailure) -> [UInt8] {
    let place = place(path)
    switch end {
    case .response(let head, let body):
      if let problem = backend.problem(of: head, body) {
        throw QueryFailure(what: place, reason: problem.line, status: problem.status)
      }
      return body
    case .failed(let reason):
      throw QueryFailure(what: place, reason: reason, status: .temporary)
    case .unusable(let reason):
      throw QueryFailure(what: place, reason: reason, status: .failure)
    case nil: throw QueryFailure(what: place, reason: "no answer", status: .temporary)
    }
  }

  /// How diagnostics name what was asked for.
  func place(_ path: String) -> String {
    (try? backend.request(path).address.display) ?? path
  }

  /// The sessions now.
  func state() throws(QueryFailure) -> RawState {
    let path = ClankyPath.voiceState
    let body = try get(path)
    do { return try body.withUnsafeBytes { try RawState($0) } } catch {
      throw QueryFailure(
        what: place(path), reason: "the answer is no voice state", status: .failure)
    }
  }
}
