public import Core
import Records
import Turns

/// How the agent of a session stands, by its own word: agent-state(1) leaves it in options of
/// the pane.
public struct AgentState: Equatable, Sendable {
  /// The most urgent first.
  public enum Kind: String, CaseIterable, Sendable {
    /// It can go on only when somebody answers it.
    case waiting
    /// It is at work.
    case working
    /// It has finished, and would take what is said next.
    case idle
    /// Nobody said, or whoever did has gone.
    case unknown
  }

  /// Which it is.
  public var kind: Kind
  /// Since when.
  public var since: Timestamp?
  /// What it said of it; from anywhere.
  public var reason: String?
  /// Whether nothing but a title says so, which is not enough to type by.
  var isByTitle = false

  /// Nobody said.
  public static let unknown = AgentState(.unknown)

  public init(_ kind: Kind, since: Timestamp? = nil, reason: String? = nil) {
    self.kind = kind
    self.since = since
    self.reason = reason
  }

  /// What Claude Code tells of itself. What its hooks said is the reason where they said it of this
  /// very state, which no hook ends when a person says no or presses Escape.
  init(_ status: ClaudeStatus, hooks: AgentState) {
    kind =
      switch status.kind {
      case .busy: .working
      case .waiting: .waiting
      case .idle: .idle
      case nil: hooks.kind
      }
    since = status.since ?? hooks.since
    reason = status.waitingFor
    // A dialog that the person opened has no hook, and times of hooks are whole seconds.
    let isOfHooks = kind == hooks.kind && status.waitingFor != "dialog open"
    let mayBe = (hooks.since?.seconds ?? 0) >= status.since?.seconds ?? 0
    if isOfHooks, mayBe, let said = hooks.reason { reason = said }
  }

  /// Of equal ones the first.
  static func mostUrgent(_ states: [AgentState]) -> AgentState {
    for kind in Kind.allCases {
      if let state = states.first(where: { $0.kind == kind }) { return state }
    }
    return unknown
  }

  /// Adds the members of its record to one: agentutils-records(5).
  func add(to record: RecordText) -> RecordText {
    record.string("state", kind.rawValue).time(since, as: "since").string("reason", reason)
  }
}

struct PaneFacts {
  /// More of a reason is of no use in a list, scalars.
  private static let longestReason = 500
  private static let shells: Set<String> = [
    "sh", "ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "nu", "tcsh", "zsh",
  ]

  /// What ends a group of fields' beginning; the fields are in the order of those here. What we
  /// started tells the agent its pane, see `SessionStart`.
  static let format =
    "P|#{pane_id}|#{&&:#{window_active},#{pane_active}}|#{m:*AGENT_PANE=*,#{pane_start_command}}|"
    + "#{pane_dead}|#{q:pane_current_command}|#{q:@agent_command}|#{q:@agent_state}|"
    + "#{q:@agent_since}|#{q:@agent_reason}|#{pane_pid}|"
    + "#{?\(isAskingForTrust),trust,\(titleState)}|"
  static let fieldCount = 11
  /// Words for tmux: whether Claude Code asks whether it may work in the folder. Before that is
  /// answered, there is nothing else that tells.
  static let isAskingForTrust =
    "#{&&:#{||:#{==:#{pane_current_command},claude},#{m:*claude*,#{pane_start_command}}},"
    + "#{C:Yes, I trust this folder}}"

  /// Words for tmux: what Claude Code's title says where nothing better does; it may be old.
  private static let titleState: String = {
    let begins = { (sign: String) in "#{m:\(sign)*,#{pane_title}}" }
    let working = "#{?#{||:\(begins("◐")),\(begins("◑"))},working,}"
    return "#{?\(begins("✳")),idle,\(working)}"
  }()

  private let fields: [String]
  /// The agent that has the pane, as it is known by its process.
  let agent: AgentProcess?

  init(_ fields: [[UInt8]], _ agents: [AgentProcess]) {
    self.fields = fields.map { String(decoding: $0, as: UTF8.self) }
    agent = Int(self.fields[9]).flatMap(agents.agent)
  }

  var id: String { fields[0] }
  private var isActive: Bool { fields[1] == "1" }
  private var isOurs: Bool { fields[2] == "1" }
  private var isDead: Bool { fields[3] == "1" }
  /// What runs there now, and what ran when the state was set.
  private var command: String { fields[4] }
  private var setter: String { fields[5] }
  private var state: String { fields[6] }
  private var since: String { fields[7] }
  private var reason: String { fields[8] }
  /// The one that tmux started there.
  var process: Int? { Int(fields[9]) }
  /// What its screen or its title says: `trust`, `idle` or `working`.
  private var seen: String { fields[10] }

  /// The remembered pane, else the one with a state, a known agent, or the only one.
  static func agentPane(_ panes: [PaneFacts], remembered: String) -> TmuxSession.AgentPane {
    func found(_ pane: PaneFacts) -> TmuxSession.AgentPane {
      .pane(pane.id, state: pane.agentState)
    }
    let live = panes.filter { !$0.isDead }
    let stating = live.filter { $0.agentState.kind != .unknown }
    let own = panes.first { $0.id == remembered }
    if let own, !own.isDead, own.agentState.kind != .unknown || !isShell(own.command) {
      return found(own)
    }
    if stating.count == 1 { return found(stating[0]) }
    if let one = stating.first(where: \.isOurs) ?? stating.first(where: \.isActive) {
      return found(one)
    }
    if !stating.isEmpty { return .unknown(panes: panes.count) }
    if let own { return found(own) }
    let named = live.filter { $0.harness != nil }
    if named.count == 1 { return found(named[0]) }
    if !remembered.isEmpty { return .gone }
    let ours = live.filter(\.isOurs)
    if ours.count == 1 { return found(ours[0]) }
    return panes.count == 1 ? found(panes[0]) : .unknown(panes: panes.count)
  }

  /// Words for tmux: whether the agent of a pane is not idle, or gone, as `agentState` has it.
  static let isNotIdle: String = {
    let isShell = { (name: String) in
      "#{m/r:^-?(\(shells.sorted().joined(separator: "|")))$,#{\(name)}}"
    }
    let isOther =
      "#{&&:#{!=:#{@agent_command},agent-state},#{!=:\(isShell("@agent_command")),1}}"
    let isBack = "#{&&:\(isShell("pane_current_command")),\(isOther)}"
    return "#{||:#{!=:#{@agent_state},idle},\(isBack)}"
  }()

  static let isWaiting = "#{==:#{@agent_state},waiting}"

  /// The harness of its agent; nil where none is known to run there.
  var harness: String? { isDead ? nil : agent?.harness ?? Harness.of(command: command) }

  /// What its agent says, unless that one has gone.
  var agentState: AgentState {
    if isDead { return .unknown }
    if let claude = agent?.claude { return AgentState(claude, hooks: told) }
    if seen == "trust" { return AgentState(.waiting, reason: "trust this folder?") }
    let told = told
    guard told.kind == .unknown, harness == "claude", let kind = AgentState.Kind(rawValue: seen)
    else { return told }
    var state = AgentState(kind)
    state.isByTitle = true
    return state
  }

  /// What was said of it by agent-state(1).
  private var told: AgentState {
    guard let kind = AgentState.Kind(rawValue: state), kind != .unknown, !hasGone else {
      return .unknown
    }
    let words = String(String.UnicodeScalarView(reason.unicodeScalars.prefix(Self.longestReason)))
    return AgentState(
      kind, since: Timestamp(rfc3339: since), reason: words.isEmpty ? nil : words)
  }

  /// Whether the program has ended, or a shell is back where another program had said it.
  private var hasGone: Bool {
    if isDead { return true }
    let isBack = Self.isShell(command) && !Self.isShell(setter)
    // At a shell's own prompt, it is the shell's state.
    return isBack && setter != "agent-state"
  }

  private static func isShell(_ command: String) -> Bool {
    shells.contains(command.hasPrefix("-") ? String(command.dropFirst()) : command)
  }
}
