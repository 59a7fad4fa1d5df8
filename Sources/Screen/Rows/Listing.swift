public import Core

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

extension Listing {
  /// More columns than this are of no use to anybody.
  private static let mostColumns = 64

  /// A list of which nothing is known: a column for each member that some
  /// record has, in the order in which they appear.
  ///
  /// - Parameter rows: the records.
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
    let columns = names.map { name in
      Column(title: Plain.line(name, limit: 100), gives: true) { Cell.text($0[name]) }
    }
    return Listing(
      columns: columns.isEmpty
        ? [Column(title: "VALUE", gives: true) { _ in Line.Span("") }] : columns,
      fields: names)
  }
}

/// Members of a record as cells of a table: what is missing or of another type
/// is empty or shown as it is, never an error.
public enum Cell {
  /// More scalars of a text are of no use in a cell.
  public static let longest = 4000

  /// Any value; nothing for null.
  public static func text(_ value: JSONValue?) -> Line.Span {
    guard let value, !value.isNull else { return Line.Span("") }
    return Line.Span(Plain.line(value.text ?? value.compact(limit: longest), limit: longest))
  }

  /// An instant, in the user's zone.
  public static func time(_ value: JSONValue?) -> Line.Span {
    guard let text = value?.string, let time = Timestamp(rfc3339: text) else {
      return self.text(value)
    }
    return Line.Span(TimeText.absolute(time, zone: TimeText.local), .dim)
  }

  /// From one instant to another.
  public static func span(_ from: JSONValue?, _ to: JSONValue?) -> Line.Span {
    guard let from = from?.string.flatMap({ Timestamp(rfc3339: $0) }),
      let to = to?.string.flatMap({ Timestamp(rfc3339: $0) })
    else { return Line.Span("") }
    let seconds = Double(to.seconds - from.seconds)
    let rest = Double(to.nanoseconds - from.nanoseconds) / 1e6
    return Line.Span(Amount.duration(seconds * 1000 + rest))
  }

  /// A duration; from `slow` milliseconds on it warns.
  public static func milliseconds(_ value: JSONValue?, slow: Double = .infinity) -> Line.Span {
    guard let number = value?.number else { return text(value) }
    return Line.Span(
      Amount.duration(number), number > slow ? Style(Palette.warning) : .plain)
  }

  /// US dollars.
  public static func money(_ value: JSONValue?) -> Line.Span {
    guard let number = value?.number else { return text(value) }
    return Line.Span(Amount.money(number))
  }

  /// A truth value in words.
  public static func state(_ value: JSONValue?, yes: String, no: String) -> Line.Span {
    guard let flag = value?.bool else { return text(value) }
    return flag ? Line.Span(yes, Style(Palette.positive)) : Line.Span(no, Style(Palette.error))
  }

  /// One of the backend's words for a state, coloured where it is known.
  public static func status(_ value: JSONValue?) -> Line.Span {
    let word = text(value)
    switch word.text {
    case "active", "ok", "ready", "running": return Line.Span(word.text, Style(Palette.positive))
    case "error", "failed": return Line.Span(word.text, Style(Palette.error))
    case "paused", "skipped", "deleted", "starting": return Line.Span(word.text, .dim)
    default: return word
    }
  }

  /// The words of a failure.
  public static func error(_ value: JSONValue?) -> Line.Span {
    Line.Span(text(value).text, Style(Palette.error))
  }
}
