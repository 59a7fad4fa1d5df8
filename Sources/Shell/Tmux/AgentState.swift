public import Core
import Records

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

  /// Nobody said.
  public static let unknown = AgentState(.unknown)

  /// - Parameters: see the properties.
  public init(_ kind: Kind, since: Timestamp? = nil, reason: String? = nil) {
    self.kind = kind
    self.since = since
    self.reason = reason
  }

  /// The state of a session of several panes: the most urgent one, and of equal ones the
  /// first.
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

/// What tmux knows of a pane and of its agent.
struct PaneFacts {
  /// More of a reason is of no use in a list, scalars.
  private static let longestReason = 500
  private static let shells: Set<String> = [
    "sh", "ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "nu", "tcsh", "zsh",
  ]

  /// What ends a group of fields' beginning; the fields are in the order of `init`.
  static let format =
    "P|#{pane_dead}|#{q:pane_current_command}|#{q:@agent_command}|#{q:@agent_state}|"
    + "#{q:@agent_since}|#{q:@agent_reason}|"
  static let fieldCount = 6

  private let isDead: Bool
  /// What runs there now, and what ran when the state was set.
  private let command: String
  private let setter: String
  private let state: String
  private let since: String
  private let reason: String

  /// - Parameter fields: as many as `fieldCount`.
  init(_ fields: [[UInt8]]) {
    let text = fields.map { String(decoding: $0, as: UTF8.self) }
    isDead = text[0] == "1"
    command = text[1]
    setter = text[2]
    state = text[3]
    since = text[4]
    reason = text[5]
  }

  /// What its agent said, unless that one has gone.
  var agentState: AgentState {
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
