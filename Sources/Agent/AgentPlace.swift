/// Where an agent is.
public enum AgentPlace: Sendable, Equatable {
  /// An address of HTTP or of a WebSocket.
  case url(String)
  /// A command that is spoken to over its standard input and output.
  case command(String)
  /// A machine.
  case host(String)

  /// The sorts of place, as the configuration spells their keys.
  public enum Sort: String, CaseIterable, Sendable {
    case url, command, host
  }

  /// A place of a sort, as it is written.
  public init(_ sort: Sort, _ text: String) {
    switch sort {
    case .url: self = .url(text)
    case .command: self = .command(text)
    case .host: self = .host(text)
    }
  }

  /// Its sort.
  public var sort: Sort {
    switch self {
    case .url: .url
    case .command: .command
    case .host: .host
    }
  }

  /// The host, and the session of tmux there, of `box:`, `box:site`, `.` or `.:site`.
  public static func parts(ofHost text: String) -> (host: String, session: String?) {
    // In brackets are the colons of an address.
    guard let end = text.lastIndex(of: ":"), !text[end...].contains("]") else { return (text, nil) }
    let name = text[text.index(after: end)...]
    return (String(text[..<end]), name.isEmpty ? nil : String(name))
  }

  /// The URL, where it is one.
  public var url: String? {
    if case .url(let text) = self { text } else { nil }
  }
}
