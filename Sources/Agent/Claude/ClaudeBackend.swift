public import Core
import Kinds
import Records
import Turns
import Web

/// Claude Code at a terminal (Agent/Claude/CONTRACT.md). It has no server: tmux-attach(1) tells how
/// its sessions stand and types, transcript-tail(1) reads what was said.
struct ClaudeBackend: AgentBackend {
  let name = "Claude Code"
  let has: Set<AgentCapability> = [.follow, .chat, .approvals]

  func chat(at host: HostPlace, _ wishes: ChatWishes) throws(Failure) -> any ChatLine {
    ClaudeChat(host, wishes)
  }

  func approvals(
    of host: HostPlace, profile: String?, _ wishes: ApprovalWishes
  ) throws(Failure) -> any ApprovalLine {
    ProgramApprovals([.host(host, profile: profile)], wishes)
  }
}

/// A machine on which an agent runs at a terminal, and one of its sessions.
public struct HostPlace: Sendable, Equatable {
  /// As tmux-attach(1) takes it: `.` is this machine.
  public let host: String
  /// A session of tmux there; nil where none is named.
  public let session: String?

  /// Reads `HOST:`, `HOST:SESSION`, `.` or `.:SESSION`.
  public init(_ text: String) {
    (host, session) = AgentPlace.parts(ofHost: text)
  }

  /// All transcripts there, as transcript-tail(1) takes them.
  public var transcripts: [String] { host == "." ? [] : ["\(host):"] }

  /// The transcript of a session there, as transcript-tail(1) takes it.
  func transcript(of session: HostSession) throws(Failure) -> String {
    guard let conversation = session.conversation else {
      throw Failure("session \(session.name)", "its agent keeps no transcript", .negative)
    }
    let folder =
      host == "." ? ClaudeTranscripts.folder(home: Folders().home) : "\(host):.claude/projects"
    return "\(folder)/\(ClaudeTranscripts.slug(of: session.folder))/\(conversation).jsonl"
  }

  /// The sessions there.
  ///
  /// - Throws: `Failure` where the host cannot be asked.
  public func sessions() throws(Failure) -> [HostSession] {
    let list = try ChildProcess(["tmux-attach", "-l", "-o", "json", host])
    var lines = LineReader(descriptor: list.output)
    var found: [HostSession] = []
    while let line = try? lines.next() {
      if let session = HostSession(Array(line.bytes)) { found.append(session) }
    }
    _ = list.waitForEnd()
    // Why it cannot be asked it has said itself; 1: there are none.
    if let status = list.exitStatus, status < 2 { return found }
    let status = list.exitStatus.flatMap(ExitStatus.init) ?? .failure
    throw Failure(host, "its sessions cannot be listed", status)
  }

  /// The session that is named; nil where none is.
  ///
  /// - Throws: `Failure` where the host cannot be asked, or has no such session.
  public func found() throws(Failure) -> HostSession? {
    guard let session else { return nil }
    let found = try sessions().first { $0.name == session && $0.elsewhere != "" }
    guard let found else { throw Failure(host, "no session \(session)", .negative) }
    _ = try transcript(of: found)
    return found
  }

  /// What is said to a person who waits for what agents there say.
  public func waits(for sessions: [HostSession]) -> String {
    let names = sessions.filter { $0.conversation != nil }.map(\.name)
    if names.isEmpty { return "no Claude Code runs there yet: tmux-attach \(host) begins one" }
    return "waits for what is said in \(session ?? names.joined(separator: ", "))"
  }
}

/// A session as tmux-attach(1) lists it.
public struct HostSession: Sendable {
  /// What it is called.
  public let name: String
  /// `waiting`, `working`, `idle` or `unknown`.
  public let state: String
  /// What the agent says of that; from anywhere.
  public let reason: String?
  /// The id of its conversation; nil where its agent keeps no transcript that is known.
  public let conversation: String?
  /// The server of tmux, where it is another; empty for no server.
  public let elsewhere: String?
  /// Its working folder.
  public let folder: String
  /// Since when it is in that state.
  public let since: Timestamp?

  /// Reads a line with a record `session`.
  public init?(_ line: [UInt8]) {
    guard let value = JSONValue(line) else { return nil }
    self.init(value)
  }

  /// Reads a line with a record `session_change`.
  public static func change(_ line: [UInt8]) -> (change: String, session: HostSession)? {
    guard let value = JSONValue(line),
      let change = value["change"]?.string, let session = HostSession(value)
    else { return nil }
    return (change, session)
  }

  /// Whether it is the same session, however it stands.
  public func isSame(as other: HostSession) -> Bool {
    name == other.name && elsewhere == other.elsewhere
  }

  /// The words of tmux-attach(1) for it, where it is in tmux.
  var target: [String] { (elsewhere.map { ["--label", $0] } ?? []) + ["-s", name] }

  private init?(_ value: JSONValue) {
    guard let name = value["name"]?.string else { return nil }
    self.name = name
    state = value["state"]?.string ?? "unknown"
    reason = value["reason"]?.string
    conversation = value["conversation"]?.string
    elsewhere = value["label"]?.string ?? (value["process"] == nil ? nil : "")
    folder = value["project"]?.string ?? value["directory"]?.string ?? ""
    since = value["since"]?.time
  }

  /// What people call it: `waits: permission prompt`.
  public var words: String { state + (reason.map { ": \($0)" } ?? "") }
}
