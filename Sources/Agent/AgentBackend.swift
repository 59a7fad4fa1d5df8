public import Core
public import Kinds
public import Web

/// What a command wants of an agent.
public enum AgentCapability: Sendable {
  /// Its events as they happen.
  case follow
  /// Lists, single records, commands.
  case call
  /// Searching what it remembers.
  case memory
  /// Its voice sessions.
  case voice
  /// Saying something to it.
  case chat
  /// Saying yes or no to what it asks for.
  case approvals
  /// Making text of speech.
  case clips
  /// Making speech of what was answered.
  case narration
  /// Keeping records of the user's own.
  case records

  /// What is said of an agent that has none: `an OpenClaw gateway has no memory to search`.
  fileprivate var unsupportedReason: String {
    switch self {
    case .follow: "has no events to follow"
    case .call: "has nothing to ask for"
    case .memory: "has no memory to search"
    case .voice: "has no voice sessions"
    case .chat: "takes no messages"
    case .approvals: "asks for no approvals"
    case .clips: "hears no clips: name a voice server with -p, or give --command"
    case .narration: "reads nothing aloud"
    case .records: "keeps no records of the AT Protocol"
    }
  }
}

/// What is to be followed of an agent.
public struct FollowWishes: Sendable {
  /// What alone is followed; nil for everything.
  public var thread: String?
  /// The number of the event behind which to begin, where events have numbers and are
  /// kept; nil for where this kind of agent usually begins.
  public var from: Int64?
  /// The file that keeps the resume point; nil for none.
  public var state: ResumeFile?
  /// Whether to wait until a person lets this device in.
  public var waits = false

  /// Everything, from the usual place.
  public init() {}

  func refuseNumber(_ name: String) throws(Failure) {
    if from != nil { throw Failure("--from", "\(name) keeps no events by their numbers") }
  }

  func refuseResume(_ name: String) throws(Failure) {
    if state?.isFixed == true {
      throw Failure("--resume", "\(name) repeats no events: there is nothing to resume")
    }
  }
}

/// What a command wants of a line on which approval is asked for.
public struct ApprovalWishes: Sendable {
  /// Whether to wait until a person lets this device in.
  public var waits = false
  /// Whether what other devices' runs ask is wanted, too, where that takes a right of its own.
  public var isAll = false
  /// Whether answers are to be expected.
  public var answers = true

  /// What is wanted of a line; see the members.
  public init(waits: Bool = false, isAll: Bool = false, answers: Bool = true) {
    (self.waits, self.isAll, self.answers) = (waits, isAll, answers)
  }
}

/// What a line to talk on is wanted for.
public struct ChatWishes: Sendable {
  /// Whether anything is to be said; else lists alone are read.
  public var isTalk = true
  /// Whether to wait for what only a person can do: let this device in, allow a tool.
  public var waits = false
  /// The longest time without any news of an answer, seconds; nil for the backend's usual
  /// one.
  public var patience: Double?
  /// How the link is kept; no time-out is the backend's usual one.
  public var policy = StreamPolicy()

  /// To talk, without waiting for persons.
  public init() {}
}

/// One kind of agent, as this suite knows it: how its server is asked, and what for.
///
/// A new kind is a folder beside this file, with its `CONTRACT.md` and a type that
/// conforms to this, and its line in `KindFacts.backend`. Each part that it has
/// replaces one of the defaults below and is named in `speaks`.
public protocol AgentBackend: Sendable {
  /// What people call an agent of this kind, with the article: `a Clanky dashboard`.
  var name: String { get }
  /// What agents of this kind can be asked for.
  var has: Set<AgentCapability> { get }
  /// What of that this suite knows how to ask.
  var speaks: Set<AgentCapability> { get }
  /// What it can be asked for by name (`call`), in the order of the help.
  var operations: [Operation] { get }
  /// Whether its address may be that of a WebSocket.
  var isSocket: Bool { get }

  /// Whether requests carry the token as it is. Where they do not, it is a password with which
  /// one logs in first, and reading needs none.
  var carriesToken: Bool { get }

  /// Where an agent of this kind is found when no URL is given.
  ///
  /// - Returns: nil where that has to be said.
  /// - Throws: `Failure` when it is not there now.
  func usualURL() throws(Failure) -> String?

  /// The header of an HTTP request that lets it in.
  func header(for token: Secret, on request: Request) -> Header

  /// Makes sure that a token is one that this kind of server may have given.
  func check(_ token: Secret) throws(Failure)

  /// What else goes with each request to a server of this kind.
  var headers: [Header] { get }

  /// What an HTTP error of this kind of server means where that is more than its
  /// status says.
  ///
  /// - Parameter answer: of any status but 2xx.
  /// - Returns: nil where the rule for everybody does (`AgentServer.problem`).
  func problem(of answer: ErrorAnswer, from server: AgentServer) -> Failure?

  /// The stream of what an agent does (`follow`).
  func events(of agent: AgentAccess, _ wishes: FollowWishes) throws(Failure) -> FollowedStream

  /// A line to talk on (`chat`).
  func chat(with agent: AgentAccess, _ wishes: ChatWishes) throws(Failure) -> any ChatLine

  /// A line to talk on with an agent whose place is a host (`chat`).
  func chat(at host: HostPlace, _ wishes: ChatWishes) throws(Failure) -> any ChatLine

  /// A line on which it asks for approval (`approvals`).
  ///
  /// - Parameters:
  ///   - wishes: what is wanted of it.
  ///   - policy: how the link is kept; no time-out is the backend's usual one.
  func approvals(
    of agent: AgentAccess, _ wishes: ApprovalWishes, policy: StreamPolicy
  ) throws(Failure) -> any ApprovalLine

  /// A line on which an agent whose place is a host asks for approval (`approvals`).
  func approvals(
    of host: HostPlace, profile: String?, _ wishes: ApprovalWishes
  ) throws(Failure) -> any ApprovalLine
}

extension AgentBackend {
  public var speaks: Set<AgentCapability> { has }

  public var operations: [Operation] { [] }

  public var isSocket: Bool { false }

  public var carriesToken: Bool { true }

  public func usualURL() throws(Failure) -> String? { nil }

  /// A bearer token (RFC 6750, section 2.1).
  public func header(for token: Secret, on request: Request) -> Header {
    Header("Authorization", "Bearer \(token.reveal())")
  }

  public func check(_ token: Secret) throws(Failure) {}

  public var headers: [Header] { [] }

  public func problem(of answer: ErrorAnswer, from server: AgentServer) -> Failure? { nil }

  public func events(
    of agent: AgentAccess, _ wishes: FollowWishes
  ) throws(Failure) -> FollowedStream {
    throw Failure(name, AgentCapability.follow.unsupportedReason)
  }

  public func chat(with agent: AgentAccess, _ wishes: ChatWishes) throws(Failure) -> any ChatLine {
    throw Failure(name, AgentCapability.chat.unsupportedReason)
  }

  public func chat(at host: HostPlace, _ wishes: ChatWishes) throws(Failure) -> any ChatLine {
    throw Failure(name, AgentCapability.chat.unsupportedReason)
  }

  public func approvals(
    of agent: AgentAccess, _ wishes: ApprovalWishes, policy: StreamPolicy
  ) throws(Failure) -> any ApprovalLine {
    throw Failure(name, AgentCapability.approvals.unsupportedReason)
  }

  public func approvals(
    of host: HostPlace, profile: String?, _ wishes: ApprovalWishes
  ) throws(Failure) -> any ApprovalLine {
    throw Failure(name, AgentCapability.approvals.unsupportedReason)
  }
}

extension KindFacts {
  /// The table of all kinds.
  private static let backends: [String: any AgentBackend] = [
    "clanky": ClankyBackend(),
    "openclaw": OpenClawBackend(),
    "pincer": PincerBackend(),
    "joelclaw": JoelclawBackend(),
    "riff": RiffBackend(),
    "pds": PDSBackend(),
    "claude": ClaudeBackend(),
  ]

  /// How agents of this kind are asked.
  public var backend: any AgentBackend {
    guard let backend = Self.backends[name] else { preconditionFailure("no backend: \(name)") }
    return backend
  }

  /// Why an agent of this kind cannot be asked for something.
  ///
  /// - Returns: a few words, nil when it can.
  public func obstacle(to capability: AgentCapability, in program: String) -> String? {
    let backend = backend
    if backend.speaks.contains(capability) { return nil }
    return backend.has.contains(capability)
      ? "this version of \(program) does not speak to \(backend.name)"
      : "\(backend.name) \(capability.unsupportedReason)"
  }
}

extension Settings.Profile {
  /// Makes sure that the agent of the profile can be asked for something.
  public func require(_ capability: AgentCapability, for program: String) throws(Failure) {
    if let obstacle = kind.obstacle(to: capability, in: program) {
      throw Failure(name ?? "AGENT_URL", obstacle)
    }
    guard let place, !kind.places.contains(place.sort) else { return }
    throw Failure(
      name ?? "AGENT_URL", "its place is a \(place.sort.rawValue); \(program) \(Self.uses(kind))")
  }

  /// What a command can do with a place of a kind: `asks a Pincer server by url only`.
  private static func uses(_ kind: KindFacts) -> String {
    let sorts = AgentPlace.Sort.allCases.filter(kind.places.contains).map(\.rawValue)
    return "asks \(kind.backend.name) by \(sorts.joined(separator: " or ")) only"
  }
}
