/// The agents in one tmux server of this machine, as `tmux-attach -l` tells of them.
public struct AgentSessions {
  /// The server's label, as tmux -L.
  public let label: String
  /// Asks for them; they are there once it has ended.
  public let call: ProgramCall

  private static let mine = "default"

  /// What makes an agent where none runs.
  public static let noneHere = "no agent runs here in tmux: tmux-attach . begins one"

  /// The label that `tmux-attach .` uses.
  public static func usualLabel(_ configuration: Configuration) -> String {
    configuration.hosts["."]?.label ?? Configuration.HostSection.usualLabel
  }

  /// The servers to look into: those of tmux-attach, and the user's own.
  public static func all(_ configuration: Configuration) -> [AgentSessions] {
    let usual = usualLabel(configuration)
    let others = [Configuration.HostSection.usualLabel, mine].filter { $0 != usual }
    return ([usual] + others).compactMap { label in
      let call = try? ProgramCall(["tmux-attach", "--label", label, "-l", "-o", "json", "."])
      return call.map { AgentSessions(label: label, call: $0) }
    }
  }

  private var rows: [JSONValue] { call.lines.compactMap { try? JSONValue.parse(text: $0) } }

  /// The records of the sessions of this server in which an agent is: in a server for agents that is
  /// all of them.
  public var sessions: [JSONValue] {
    rows.filter {
      $0["label"] == nil && $0["process"] == nil
        && (label != Self.mine || $0["state"]?.string != "unknown" || $0["agent"] != nil)
    }
  }

  /// The records of the agents outside tmux and in servers that were not asked, which the list of each
  /// server has.
  public static func elsewhere(_ servers: [AgentSessions]) -> [JSONValue] {
    (servers.first?.rows ?? []).filter { row in
      let label = row["label"]?.string
      return row["process"] != nil || label != nil && !servers.contains { $0.label == label }
    }
  }
}

extension Settings {
  /// The profile that is meant: the one that is named; where nothing at all is configured and an agent
  /// runs at a terminal of this machine, `.`.
  ///
  /// Where none runs, a person is told what makes one, and the caller says what could be configured.
  public func profileOrHere(_ named: String?, _ diagnostics: Diagnostics) -> String? {
    guard named == nil, namesNoAgent else { return named }
    let list = try? ProgramCall(["tmux-attach", "-l", "-o", "json", "."])
    ProgramCall.wait(for: [list].compactMap { $0 })
    if list?.lines.isEmpty == false { return "." }
    diagnostics.tellPerson(AgentSessions.noneHere)
    return nil
  }
}
