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

  /// The URL, where it is one.
  public var url: String? {
    if case .url(let text) = self { text } else { nil }
  }
}
