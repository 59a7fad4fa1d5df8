public import Core
public import Records
import Turns

/// A session of the host's tmux server; or an agent elsewhere on the host.
public struct TmuxSession: Equatable, Sendable {
  /// Where it is.
  public enum Place: Equatable, Sendable {
    /// In the tmux server that was asked for.
    case here
    /// In another one, with this label.
    case server(String)
    /// In none: an agent's process, to which nobody can be attached.
    case process(Int)
  }

  /// Where it is.
  public var place = Place.here
  /// tmux's own id, `$3`: never used twice by one server.
  public var id: String
  /// Its name.
  public var name: String
  /// How many windows it has.
  public var windows: Int
  /// How many clients are attached.
  public var attached: Int
  /// When it was made.
  public var created: Timestamp
  /// When something last happened in it.
  public var activity: Timestamp
  /// Where the program of the current pane is: bytes, a path need not be text.
  public var directory: [UInt8]
  /// The program of the current pane.
  public var command: [UInt8]
  /// How its agent stands; of several, the one that most needs somebody.
  public var state = AgentState.unknown
  /// The harness of its agent, `codex`; nil where none is known to run there.
  public var harness: String?
  /// The id of the conversation of Claude Code there: its transcript's name.
  public var conversation: String?
  /// The folder in which that was begun.
  public var project: String?
  /// Where the agent is.
  public var agentPane = AgentPane.unknown(panes: 0)

  /// Where the agent of a session is, of all its panes.
  public enum AgentPane: Equatable, Sendable {
    /// In this pane, `%3`; how it stands.
    case pane(String, state: AgentState)
    /// The pane in which it was started is there no more.
    case gone
    /// In one of so many, and nothing says which.
    case unknown(panes: Int)
  }

  /// Whether it is the same session, with the same things to tell of it but for the
  /// time of its last activity.
  public func looks(like other: TmuxSession) -> Bool {
    var copy = other
    (copy.activity, copy.agentPane) = (activity, agentPane)
    return self == copy
  }

  /// Its record, `type` `session`.
  public var record: [UInt8] { add(to: RecordText(.session)).bytes }

  /// Adds the members of its record to one: agentutils-records(5).
  public func add(to record: RecordText) -> RecordText {
    var record = record.string("name", name)
    switch place {
    case .here: break
    case .server(let label): record = record.string("label", label)
    case .process(let number): record = record.number("process", number)
    }
    record = record.number("windows", windows)
      .number("attached", attached).time(created, as: "created").time(activity, as: "activity")
      .string("directory", String(decoding: directory, as: UTF8.self))
      .string("command", String(decoding: command, as: UTF8.self))
    return state.add(to: record.string("agent", harness)).string("conversation", conversation)
      .string("project", project)
  }
}

extension TmuxSession {
  /// An agent outside tmux.
  fileprivate init(_ agent: AgentProcess) {
    let claude = agent.claude
    let time = claude?.started ?? claude?.since ?? Timestamp(seconds: 0)
    self.init(
      place: .process(agent.processes[0]), id: claude?.id ?? "",
      name: claude?.name ?? agent.harness,
      windows: 0, attached: 0, created: time, activity: claude?.since ?? time,
      directory: Array(agent.folder.utf8), command: Array(agent.harness.utf8))
    harness = agent.harness
    guard let claude else { return }
    (state, conversation, project) = (AgentState(claude, hooks: .unknown), claude.id, agent.folder)
  }
}

/// The list of sessions as tmux is asked to write it, and read back.
///
/// A row is `S|`, a field and `|` for each field, for each pane `P|` and its fields, and
/// `.` at the end. Fields that
/// are text are written by `q:`, which puts a backslash before whatever means something
/// to a shell, `|` and the backslash among it; tmux since 3.4 writes control
/// characters as `\n` or `\012` besides. So no name and no path, with line ends in it
/// or not, can be taken for another row.
enum SessionRows {
  static let format = format(activity: "#{session_activity}")
  /// The same without what changes all the time.
  static let stillFormat = format(activity: "0")
  private static let fieldCount = 9

  private static func format(activity: String) -> String {
    "S|#{session_id}|#{q:session_name}|#{session_windows}|#{session_attached}|"
      + "#{session_created}|\(activity)|"
      + "#{?pane_current_path,#{q:pane_current_path},#{q:session_path}}|"
      + "#{q:pane_current_command}|#{q:@agent_pane}|#{W:#{P:\(PaneFacts.format)}}."
  }

  /// Skips lines in front of a row (warnings); nil when a row is damaged. What Claude Code tells
  /// comes first, and where it runs in no session that was asked for, it comes last.
  static func parse(_ bytes: [UInt8]) -> [TmuxSession]? {
    var sessions: [TmuxSession] = []
    var rest = bytes[...]
    let agents = AgentProcess.parse(&rest)
    guard let others = elsewhere(&rest, agents) else { return nil }
    var processes = Set(others.processes)
    while !rest.isEmpty {
      guard rest.starts(with: [0x53, 0x7c]) else {
        rest = rest[((rest.firstIndex(of: 10) ?? rest.endIndex - 1) + 1)...]
        continue
      }
      rest = rest.dropFirst(2)
      guard let fields = takeFields(fieldCount, &rest) else { return nil }
      var panes: [PaneFacts] = []
      while rest.starts(with: [0x50, 0x7c]) {
        rest = rest.dropFirst(2)
        guard let facts = takeFields(PaneFacts.fieldCount, &rest) else { return nil }
        panes.append(PaneFacts(facts, agents))
      }
      processes.formUnion(panes.compactMap(\.process))
      guard rest.first == 0x2e else { return nil }
      rest = rest.dropFirst()
      guard rest.isEmpty || rest.first == 10,
        let session = session(fields, panes)
      else { return nil }
      rest = rest.dropFirst()
      sessions.append(session)
    }
    // Of an agent that was stopped in its pane, nothing is told.
    let outside = agents.filter { processes.isDisjoint(with: $0.processes) }
    return sessions + others.sessions + outside.map(TmuxSession.init)
  }

  /// A row for each pane of the user's other servers: `O|`, the label, the fields of its session, and
  /// those of the pane.
  static let otherFormat =
    "#{session_id}|#{q:session_name}|#{session_windows}|#{session_attached}|"
    + "#{session_created}|0|#{?pane_current_path,#{q:pane_current_path},#{q:session_path}}|"
    + "#{q:pane_current_command}||\(PaneFacts.format)"

  /// The sessions of other servers in which an agent runs, and the processes of all panes there.
  private static func elsewhere(
    _ rest: inout ArraySlice<UInt8>, _ agents: [AgentProcess]
  ) -> (sessions: [TmuxSession], processes: [Int])? {
    var (found, processes): ([TmuxSession], [Int]) = ([], [])
    while rest.starts(with: [0x4f, 0x7c]) {
      rest = rest.dropFirst(2)
      guard let label = takeField(&rest), let fields = takeFields(fieldCount, &rest),
        rest.starts(with: [0x50, 0x7c])
      else { return nil }
      rest = rest.dropFirst(2)
      guard let facts = takeFields(PaneFacts.fieldCount, &rest) else { return nil }
      rest = rest.dropFirst()
      let pane = PaneFacts(facts, agents)
      guard var session = session(fields, [pane]) else { return nil }
      processes += [pane.process].compactMap { $0 }
      if pane.agent == nil { continue }
      session.place = .server(String(decoding: label, as: UTF8.self))
      session.activity = session.state.since ?? session.created
      session.agentPane = .unknown(panes: 0)
      if let index = found.firstIndex(where: { $0.place == session.place && $0.id == session.id }) {
        found[index].state = .mostUrgent([found[index].state, session.state])
      } else {
        found.append(session)
      }
    }
    return (found, processes)
  }

  private static func takeFields(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> [[UInt8]]? {
    var fields: [[UInt8]] = []
    while fields.count < count {
      guard let field = takeField(&rest) else { return nil }
      fields.append(field)
    }
    return fields
  }

  private static func session(_ fields: [[UInt8]], _ panes: [PaneFacts]) -> TmuxSession? {
    let text = fields.map { String(decoding: $0, as: UTF8.self) }
    guard text[0].hasPrefix("$"), !text[1].isEmpty, let windows = Int(text[2]),
      let attached = Int(text[3]), let created = Int64(text[4]), let activity = Int64(text[5])
    else { return nil }
    return TmuxSession(
      id: text[0], name: text[1], windows: windows, attached: attached,
      created: Timestamp(seconds: created), activity: Timestamp(seconds: activity),
      directory: fields[6], command: fields[7], state: .mostUrgent(panes.map(\.agentState)),
      harness: panes.compactMap(\.harness).first,
      conversation: panes.compactMap(\.agent?.claude).first?.id,
      project: panes.compactMap(\.agent).first { $0.claude != nil }?.folder,
      agentPane: PaneFacts.agentPane(panes, remembered: text[8]))
  }

  private static func takeField(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
    var field: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case 0x7c: return field
      case 0x5c:
        guard let next = rest.popFirst() else { return nil }
        field.append(escaped(next, &rest))
      default: field.append(byte)
      }
    }
    return nil
  }

  private static func escaped(_ byte: UInt8, _ rest: inout ArraySlice<UInt8>) -> UInt8 {
    if let place = Array("abtnvfrs".utf8).firstIndex(of: byte) {
      return [7, 8, 9, 10, 11, 12, 13, 32][place]
    }
    let digits = rest.prefix(2)
    guard 0x30...0x33 ~= byte, digits.count == 2, digits.allSatisfy({ 0x30...0x37 ~= $0 }) else {
      return byte
    }
    rest = rest.dropFirst(2)
    return digits.reduce(byte & 3) { $0 << 3 | $1 & 7 }
  }
}
