import Core

/// What the command line asks for.
struct FilterSettings {
  /// What goes to standard output.
  enum Output: Equatable {
    /// The bytes that were read.
    case original
    /// Rows in the dashboard's spelling.
    case canonical
    /// Some members of each action.
    case fields(Projection)
    /// One number.
    case count
    /// A record per group.
    case groups(Grouping)
    /// Nothing.
    case nothing

    /// Whether an action's members are read for it.
    var usesMembers: Bool {
      switch self {
      case .canonical, .fields, .groups: true
      case .original, .count, .nothing: false
      }
    }
  }

  var predicate = ActionPredicate()
  /// The profiles whose records are selected; none for all records.
  var profiles: [[UInt8]] = []
  var isInverted = false
  var isUnique = false
  /// Whether records that are no actions pass.
  var passesOthers = false
  var isStrict = false
  /// Whether lines that cannot match are not to be read.
  var isFast = false
  var maxCount = Int.max
  var output = Output.original
  /// Where bad lines are collected.
  var rejects: String?
  /// Files to read; `-` is standard input.
  var files: [String] = []

  /// Whether what is printed are records, and not numbers or nothing.
  var printsRecords: Bool {
    switch output {
    case .original, .canonical, .fields: true
    case .count, .groups, .nothing: false
    }
  }

  /// Whether a record is of one of the profiles.
  ///
  /// - Parameters:
  ///   - profile: a string of JSON, or absent.
  ///   - scratch: memory for texts with escapes.
  func isOfProfile(_ profile: ScanValue, _ scratch: ScanScratch) -> Bool {
    profiles.isEmpty || profiles.contains { equals(profile, $0, scratch) }
  }

  /// - Parameters:
  ///   - parsed: the command line.
  ///   - now: what durations are counted back from.
  /// - Throws: `UsageError`.
  init(_ parsed: ParsedOptions, now: Timestamp) throws(UsageError) {
    let ignoresCase = parsed.items.contains { $0.name == "ignore-case" }
    var (counts, quiet) = (false, false)
    var grouping: Grouping?
    for item in parsed.items {
      switch item.name {
      case "kind": predicate.kinds += try Self.list(item).map(KindPattern.init)
      case "domain":
        for word in try Self.list(item) { try predicate.domains.add(word) }
      case "profile": profiles += try Self.list(item).map { Array($0.utf8) }
      case "guild": predicate.guilds.append(try Self.id(item))
      case "channel": predicate.channels.append(try Self.id(item))
      case "user": predicate.users.append(try Self.id(item))
      case "message": predicate.messages.append(try Self.id(item))
      case "since": predicate.since = try Self.time(item, now)
      case "before": predicate.before = try Self.time(item, now)
      case "min-cost": predicate.minCost = try Self.cost(item)
      case "max-cost": predicate.maxCost = try Self.cost(item)
      case "text": predicate.texts.append(TextSearch(item.value, ignoresCase: ignoresCase))
      case "regex": predicate.regexes.append(try RegexSearch(item.value, ignoresCase: ignoresCase))
      case "where": predicate.wheres.append(try MetadataTest(item.value))
      case "invert": isInverted = true
      case "unique": isUnique = true
      case "others": passesOthers = true
      case "max-count":
        guard let count = Int(item.value), count >= 0, item.value.first != "+" else {
          throw UsageError("--max-count \(item.value): not a count")
        }
        maxCount = count
      case "output":
        output =
          item.value == "canonical" ? .canonical : .fields(try Projection(item.value))
      case "fast": isFast = true
      case "strict": isStrict = true
      case "rejects": rejects = item.path
      case "count": counts = true
      case "quiet": quiet = true
      case "by":
        grouping = Grouping(rawValue: item.value)
        if grouping == nil {
          throw UsageError("--by \(item.value): not kind, domain, guild, user, hour or profile")
        }
      default: break
      }
    }
    if counts { output = .count }
    if let grouping { output = .groups(grouping) }
    if quiet { output = .nothing }
    if output == .nothing { maxCount = min(maxCount, 1) }
    files = parsed.paths.isEmpty ? ["-"] : parsed.paths
  }

  private static func list(_ item: ParsedOptions.Item) throws(UsageError) -> [String] {
    let words = item.value.split(separator: ",").map(String.init)
    guard !words.isEmpty else { throw UsageError("--\(item.name): nothing is named") }
    return words
  }

  private static func id(_ item: ParsedOptions.Item) throws(UsageError) -> IDTest {
    guard !item.value.isEmpty else { throw UsageError("--\(item.name): an id is missing") }
    return IDTest(item.value)
  }

  /// A time of RFC 3339, a date alone (its midnight in UTC), or so long ago.
  private static func time(
    _ item: ParsedOptions.Item, _ now: Timestamp
  ) throws(UsageError) -> Timestamp {
    if let time = Timestamp(rfc3339: item.value) ?? Timestamp(rfc3339: item.value + "T00:00:00Z") {
      return time
    }
    if let duration = DurationText.parse(item.value) { return now.adding(.zero - duration) }
    throw UsageError("--\(item.name) \(item.value): not a time (RFC 3339, or 90s, 15m, 2h, 3d)")
  }

  private static func cost(_ item: ParsedOptions.Item) throws(UsageError) -> MoneyAmount {
    guard let amount = MoneyAmount(item.value) else {
      throw UsageError("--\(item.name) \(item.value): not a number")
    }
    return amount
  }
}
