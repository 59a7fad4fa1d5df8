import Core
import Screen
import Web

/// Fetches facts of a guild, however many there are.
struct FactFetch {
  static let path = "api/memory/facts"

  let caller: Caller
  let guild: String
  let diagnostics: Diagnostics

  /// Facts, the newest update first.
  struct Found {
    var rows: [[UInt8]]
    /// False when some are known to be missing; it was said.
    var isWhole: Bool
  }

  /// All facts.
  ///
  /// - Parameters:
  ///   - subject: of this subject alone; nil for all.
  ///   - text: with this text in one of their members; empty for all.
  /// - Throws: `CallFailure`.
  func all(subject: String? = nil, text: String = "") throws(CallFailure) -> Found {
    if !text.isEmpty {
      let rows = try ask(FactPages.Query(subject: subject, text: text))
      if rows.count != FactPages.most { return Found(rows: rows, isWhole: true) }
    }
    let pages = try read(FactPages(subject: subject))
    for shortage in pages.shortages { diagnostics.error(place, Self.words(shortage)) }
    let filter = FactFilter(texts: text.isEmpty ? [] : [text.lowercased()])
    return Found(rows: filter.wanted(pages.newestFirst), isWhole: pages.shortages.isEmpty)
  }

  /// Facts by their ids.
  ///
  /// - Parameters:
  ///   - ids: which.
  ///   - subject: where to look first.
  ///   - isCertain: whether a fact that is not found must be known to be gone.
  /// - Returns: those that there are, by id.
  /// - Throws: `CallFailure`, also when one may be among those out of reach.
  func find(
    _ ids: [String], subject: String? = nil, isCertain: Bool = true
  ) throws(CallFailure) -> [String: [UInt8]] {
    let wanted = Set(ids)
    var pages = try read(FactPages(subject: subject), until: wanted)
    if subject != nil, !pages.has(wanted) {
      pages = try read(FactPages(subject: nil), until: wanted)
    }
    var found: [String: [UInt8]] = [:]
    for row in pages.newestFirst {
      if let id = Fact(record: row)?.id, wanted.contains(id) { found[id] = row }
    }
    if isCertain, let shortage = pages.shortages.first,
      let id = ids.first(where: { found[$0] == nil })
    {
      throw CallFailure("fact \(id)", "not found: \(Self.words(shortage))", .failure)
    }
    return found
  }

  private func read(
    _ pages: FactPages, until ids: Set<String> = [""]
  ) throws(CallFailure) -> FactPages {
    var pages = pages
    while true {
      switch pages.next() {
      case .done: return pages
      case .askSubjects: pages.take(subjects: try subjects())
      case .ask(let query):
        pages.take(try ask(query), for: query)
        if pages.has(ids) { return pages }
      }
    }
  }

  private func ask(_ query: FactPages.Query) throws(CallFailure) -> [[UInt8]] {
    let path =
      Self.path
      + QueryText.encode([
        ("guildId", guild), ("limit", "\(FactPages.most)"), ("subject", query.subject),
        ("q", query.text),
      ])
    let reply = try caller.call(path)
    return try Answer(reply, place: place).list("facts", place: place)
  }

  /// The subjects of the guild, as the backend lists them.
  func subjects() throws(CallFailure) -> [[UInt8]] {
    let path =
      "api/memory/subjects"
      + QueryText.encode([("guildId", guild), ("limit", "\(FactPages.most)")])
    let place = caller.place(path)
    return try Answer(try caller.call(path), place: place).list("subjects", place: place)
  }

  private var place: String { caller.place(Self.path) }

  private static func words(_ shortage: FactPages.Shortage) -> String {
    guard let subject = shortage.subject else {
      return "there may be facts of more subjects than the \(FactPages.most) that are listed"
    }
    let all = shortage.expected.map { " of \($0)" } ?? ""
    return "\(shortage.found)\(all) facts of \(subject) can be had, others are out of reach"
  }
}
