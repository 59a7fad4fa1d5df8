import Screen

/// What is asked of the backend: the first operand.
enum Command: String, CaseIterable {
  case health
  case stats
  case actions
  case guilds
  case channels
  case automations
  case runs
  case browserSessions = "browser-sessions"
  case mcp
  case asrSessions = "asr-sessions"
  case toolEvents = "tool-events"
  case tunnel
  case settings
  case join
  case get
  case post
  case put
  case delete

  /// The operands behind the word.
  var operands: ClosedRange<Int> {
    switch self {
    case .channels, .runs, .join: 0...1
    case .get, .post, .put, .delete: 1...1
    default: 0...0
    }
  }

  /// What an operand is, for messages.
  var operandName: String {
    switch self {
    case .channels, .join: "GUILD"
    case .runs: "AUTOMATION"
    default: "PATH"
    }
  }

  /// The verb of the request.
  var method: String {
    switch self {
    case .join, .post: "POST"
    case .put: "PUT"
    case .delete: "DELETE"
    default: "GET"
    }
  }

  /// Whether an option that is not for every command is for this one.
  ///
  /// - Parameter option: its long name.
  func takes(_ option: String) -> Bool {
    switch option {
    case "guild":
      [.stats, .actions, .channels, .automations, .runs, .browserSessions, .join].contains(self)
    case "count": isList || self == .get
    case "since": self == .actions || self == .browserSessions
    case "kind": self == .actions
    case "status": self == .automations
    case "channel": self == .automations || self == .join
    case "user": self == .join
    case "data": [.post, .put, .delete].contains(self)
    default: true
    }
  }

  /// Whether the answer is a list of one kind of record.
  var isList: Bool { self == .actions || listing != nil }

  /// How the list is asked for and shown; nil when the answer is not a list.
  var listing: Listing? { Listing.of(self) }
}
