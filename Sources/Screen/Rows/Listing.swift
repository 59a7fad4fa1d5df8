import Core

/// A list of records: what holds it in an answer, and how a person and a script see
/// them.
public struct Listing: Sendable {
  /// A column of the table.
  public struct Column: Sendable {
    /// The heading.
    public let title: String
    /// Whether the cells end below each other, as numbers do.
    public let isRight: Bool
    /// Whether it gives way when the rows are too wide.
    public let gives: Bool
    /// The cell of a record; fit for a terminal.
    public let cell: @Sendable (JSONValue) -> Line.Span

    /// - Parameters:
    ///   - title: the heading.
    ///   - isRight: whether the cells end below each other.
    ///   - gives: whether it gives way when the rows are too wide.
    ///   - cell: the cell of a record.
    public init(
      title: String, isRight: Bool = false, gives: Bool = false,
      cell: @escaping @Sendable (JSONValue) -> Line.Span
    ) {
      self.title = title
      self.isRight = isRight
      self.gives = gives
      self.cell = cell
    }

    /// A member as text.
    public static func text(_ title: String, _ name: String, gives: Bool = false) -> Column {
      Column(title: title, gives: gives) { Cell.text($0[name]) }
    }

    /// A member that is an instant.
    public static func time(_ title: String, _ name: String) -> Column {
      Column(title: title) { Cell.time($0[name]) }
    }

    /// A column at the right.
    public static func right(
      _ title: String, _ cell: @escaping @Sendable (JSONValue) -> Line.Span
    ) -> Column {
      Column(title: title, isRight: true, cell: cell)
    }

    /// A column with words or a colour of its own.
    public static func own(
      _ title: String, gives: Bool = false, _ cell: @escaping @Sendable (JSONValue) -> Line.Span
    ) -> Column {
      Column(title: title, gives: gives, cell: cell)
    }
  }

  /// The member that holds the list; nil when the answer is the list.
  public let member: String?
  /// The most records that one answer has; nil when there is no limit to ask for.
  public let most: Int?
  /// Of the table.
  public let columns: [Column]
  /// The members that `-o tsv` writes, in this order.
  public let fields: [String]

  /// - Parameters:
  ///   - member: the member that holds the list; nil when the answer is the list.
  ///   - most: the most records that one answer has; nil when there is no limit.
  ///   - columns: of the table.
  ///   - fields: the members that `-o tsv` writes.
  public init(member: String? = nil, most: Int? = nil, columns: [Column], fields: [String]) {
    self.member = member
    self.most = most
    self.columns = columns
    self.fields = fields
  }
}
