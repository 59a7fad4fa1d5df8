public import Core

/// A list of records: what holds it in an answer, and what a person and a script see of
/// them.
public struct Listing: Sendable {
  /// A column of the table.
  public struct Column: Sendable {
    /// The heading; from anywhere.
    public let title: String
    /// Whether the cells end below each other, as numbers do.
    public let isRight: Bool
    /// Whether it gives way when the rows are too wide.
    public let gives: Bool
    /// The cell of a record.
    public let cell: @Sendable (JSONValue) -> Cell

    /// - Parameter gives: whether it gives way when the rows are too wide.
    public init(
      _ title: String, isRight: Bool = false, gives: Bool = false,
      cell: @escaping @Sendable (JSONValue) -> Cell
    ) {
      (self.title, self.isRight, self.gives, self.cell) = (title, isRight, gives, cell)
    }

    /// A member as text.
    public static func text(_ title: String, _ name: String, gives: Bool = false) -> Column {
      Column(title, gives: gives) { .text($0[name]) }
    }

    /// A member as text at the right.
    public static func number(_ title: String, _ name: String) -> Column {
      Column(title, isRight: true) { .text($0[name]) }
    }

    /// A member that is an instant.
    public static func time(_ title: String, _ name: String) -> Column {
      Column(title) { .time($0[name]) }
    }

    /// A member that says how something stands.
    public static func status(_ title: String, _ name: String) -> Column {
      Column(title) { .status($0[name]) }
    }

    /// A member that is milliseconds.
    public static func milliseconds(_ title: String, _ name: String) -> Column {
      Column(title, isRight: true) { .milliseconds($0[name]) }
    }

    /// A member that is US dollars.
    public static func money(_ title: String, _ name: String) -> Column {
      Column(title, isRight: true) { .money($0[name]) }
    }

    /// A member that says what failed.
    public static func error(_ title: String, _ name: String) -> Column {
      Column(title, gives: true) { .error($0[name]) }
    }
  }

  /// The member that holds the list; nil when the answer is the list.
  public let member: String?
  /// The most records that one answer has; nil when there is no limit to ask for.
  public let most: Int?
  /// What makes a record of it, for a person who sees none; nil where that is not known.
  public let origin: String?
  /// Of the table.
  public let columns: [Column]
  /// The members that `-o tsv` writes, in this order.
  public let fields: [String]

  /// - Parameters:
  ///   - member: the member that holds the list; nil when the answer is the list.
  ///   - most: the most records that one answer has; nil when there is no limit.
  ///   - origin: what makes a record of it, a clause; nil where that is not known.
  ///   - fields: the members that `-o tsv` writes.
  public init(
    member: String? = nil, most: Int? = nil, origin: String? = nil, columns: [Column],
    fields: [String]
  ) {
    (self.member, self.most, self.origin) = (member, most, origin)
    (self.columns, self.fields) = (columns, fields)
  }
}

extension Listing {
  private static let mostColumns = 64

  /// A list of which nothing is known: a column for each member that some
  /// record has, in the order in which they appear.
  public static func any(_ rows: [[UInt8]]) -> Listing {
    var names: [String] = []
    var seen: Set<String> = []
    for row in rows where names.count < mostColumns {
      row.withUnsafeBytes { bytes in
        guard var members = try? ScanMembers(bytes) else { return }
        while (try? members.next()) == true, names.count < mostColumns {
          let name = members.key.unescaped
          if seen.insert(name).inserted { names.append(name) }
        }
      }
    }
    let columns = names.map { Column.text($0, $0, gives: true) }
    return Listing(
      columns: columns.isEmpty ? [Column("VALUE", gives: true) { _ in .nothing }] : columns,
      fields: names)
  }
}
