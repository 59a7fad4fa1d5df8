/// Where an agent is.
public struct AgentPlace: Sendable, Equatable {
  /// The sorts of place, as the configuration spells their keys: an address of HTTP or of a
  /// WebSocket, a command that is spoken to over its standard input and output, a machine.
  public enum Sort: String, CaseIterable, Sendable {
    case url, command, host
  }

  public let sort: Sort
  /// As it is written.
  public let text: String

  public init(_ sort: Sort, _ text: String) { (self.sort, self.text) = (sort, text) }

  public static func url(_ text: String) -> AgentPlace { AgentPlace(.url, text) }
  public static func host(_ text: String) -> AgentPlace { AgentPlace(.host, text) }

  /// The URL, where it is one.
  public var url: String? { sort == .url ? text : nil }

  /// The host, and the session of tmux there, of `box:`, `box:site`, `.` or `.:site`.
  public static func parts(ofHost text: String) -> (host: String, session: String?) {
    // In brackets are the colons of an address.
    guard let end = text.lastIndex(of: ":"), !text[end...].contains("]") else { return (text, nil) }
    let name = text[text.index(after: end)...]
    return (String(text[..<end]), name.isEmpty ? nil : String(name))
  }
}
