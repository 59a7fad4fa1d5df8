public import Core
import Records
public import Web

/// The dashboard of a Clanky agent, or agent-serve (Agent/Clanky/CONTRACT.md).
struct ClankyBackend: AgentBackend {
  let name = "a Clanky dashboard"
  let has: Set<AgentCapability> = [.follow, .call, .memory, .voice]

  var operations: [Operation] { ClankyOperations.all }

  /// Agent/Clanky/CONTRACT.md 1.1.
  func header(for token: Secret, on request: Request) -> Header {
    Header("x-dashboard-token", token.reveal())
  }

  private static let tokenRequired = "dashboard_token_required_when_public_https_enabled"
  /// What Cloudflare answers for a host behind it that it cannot reach.
  private static let tunnelCodes = [502, 504] + Array(520...530)

  /// Agent/Clanky/CONTRACT.md 1.1 and 1.2: what a tunnel makes of a refusal, and
  /// the dashboard's own words for "no".
  func problem(of answer: ErrorAnswer, from server: AgentServer) -> Failure? {
    let word = answer.json?["error"]?.string
    let isNotFound = word == "Not found." && answer.json?["ok"] == nil
    switch answer.head.status {
    case 404 where isNotFound && answer.method == "GET":
      // Locally a path that is not there answers a GET in plain text.
      return answer.problem("a tunnel answers so when \(server.refusal)", .denied)
    case 404 where isNotFound && server.base.scheme == "https":
      return answer.problem("no such path for \(answer.method), or \(server.refusal)", .denied)
    case 404 where answer.refuses: return answer.problem(.negative)
    case 404 where isNotFound || (answer.json == nil && answer.reason == "Not found."):
      return answer.problem("no such path", .failure)
    case 503 where answer.reason == Self.tokenRequired:
      return answer.problem(
        "the backend has a public tunnel and no token of its own (\(Self.tokenRequired))", .denied)
    case let code where answer.isPage && Self.tunnelCodes.contains(code):
      return answer.problem(
        "the tunnel's page: the backend is asleep or out of reach", .temporary)
    default: return nil
    }
  }

  func events(of agent: AgentAccess, _ wishes: FollowWishes) throws(Failure) -> FollowedStream {
    try wishes.refuseNumber(name)
    if let thread = wishes.thread {
      throw Failure(thread, "\(name) has no threads to follow")
    }
    return try DashboardStream.activity.followed(of: agent, state: wishes.state)
  }
}

extension ErrorAnswer {
  /// Whether the request was understood, and the answer is no: `{"ok":false,...}`.
  fileprivate var refuses: Bool {
    guard let ok = json?["ok"] else { return json?["accepted"]?.bool == false }
    return ok.bool == false
  }
}

/// The two streams of the dashboard (Agent/Clanky/CONTRACT.md 2).
public enum DashboardStream: String, CaseIterable, Sendable {
  case activity
  case voice

  private var path: String {
    self == .voice ? ClankyPath.voiceEvents : ClankyPath.activityEvents
  }

  /// Seconds of silence after which a connection is lost: a heartbeat comes every 15.
  private static let usualSilence = 45.0

  /// The stream's address.
  public func address(at base: WebAddress) throws(Failure) -> WebAddress {
    try Failure.at("the profile's url", base.appending(path))
  }

  /// What a state file is bound to: the stream and its profile, for the name of a
  /// tunnel changes; without a profile the address.
  public func source(profile: String?, address: WebAddress) -> String {
    profile.map { "\(rawValue) of \($0)" } ?? address.display
  }

  func request(to agent: AgentAccess) throws(Failure) -> Request {
    var request = Request(try address(at: agent.backend.base))
    agent.backend.authorize(&request)
    return request
  }

  func followed(of agent: AgentAccess, state: ResumeFile?) throws(Failure) -> FollowedStream {
    let base = agent.backend.base
    let request = try request(to: agent)
    let source = source(profile: agent.profile.name, address: request.address)
    let resume = try state.map { file throws(Failure) in
      try ResumePoint(file, source: source)
    }
    return followed(request, agent.backend, base: base, resume: resume)
  }

  /// The stream, ready to be followed, and kept whole over reconnects.
  ///
  /// - Parameter resume: the state of an earlier run; nil without one.
  public func followed(
    _ request: Request, _ server: AgentServer, base: WebAddress, resume: ResumePoint?
  ) -> FollowedStream {
    var followed = FollowedStream(request, server, resume: resume)
    followed.wire = { follow in
      ActivityFollower(self, follow, request, base: base, resumingAt: resume?.state).run
    }
    followed.usualSilence = Self.usualSilence
    return followed
  }
}
