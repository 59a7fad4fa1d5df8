import Core
import Screen

/// A list that the backend gives: where it is, and how a person and a script
/// see its records.
struct Listing: Sendable {
  /// A column of the table.
  struct Column: Sendable {
    /// The heading.
    let title: String
    /// Whether the cells end below each other, as numbers do.
    var isRight = false
    /// Whether it gives way when the rows are too wide.
    var gives = false
    /// The cell of a record; fit for a terminal.
    let cell: @Sendable (JSONValue) -> Line.Span

    /// A member as text.
    static func text(_ title: String, _ name: String, gives: Bool = false) -> Column {
      Column(title: title, gives: gives) { Cell.text($0[name]) }
    }

    /// A member that is an instant.
    static func time(_ title: String, _ name: String) -> Column {
      Column(title: title) { Cell.time($0[name]) }
    }

    /// A column at the right.
    static func right(
      _ title: String, _ cell: @escaping @Sendable (JSONValue) -> Line.Span
    ) -> Column {
      Column(title: title, isRight: true, cell: cell)
    }

    /// A column with words or a colour of its own.
    static func own(
      _ title: String, gives: Bool = false, _ cell: @escaping @Sendable (JSONValue) -> Line.Span
    ) -> Column {
      Column(title: title, gives: gives, cell: cell)
    }
  }

  /// Behind the base URL.
  let path: String
  /// The member that holds the list; nil when the answer is the list.
  let member: String?
  /// The most records that one answer has; nil when there is no limit to ask for.
  let most: Int?
  /// Of the table.
  let columns: [Column]
  /// The members that `-o tsv` writes, in this order.
  let fields: [String]

  /// The list of a command; nil when its answer is none, or several.
  static func of(_ command: Command) -> Listing? {
    switch command {
    case .guilds: guilds
    case .channels: channels
    case .automations: automations
    case .runs: runs
    case .browserSessions: browserSessions
    case .mcp: mcp
    case .asrSessions: asrSessions
    case .toolEvents: toolEvents
    default: nil
    }
  }
}
