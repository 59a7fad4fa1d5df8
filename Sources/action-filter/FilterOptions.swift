import CLibc
import Core
import Records

struct FilterOptions {
  enum Output: Equatable {
    case original
    case canonical
    case fields(Projection)
    case count
    case groups
    case nothing

    var usesMembers: Bool {
      switch self {
      case .canonical, .fields, .groups: true
      case .original, .count, .nothing: false
      }
    }
  }

  enum Mode { case select, pack, contents }

  var mode = Mode.select
  var predicate = ActionPredicate()
  /// What `-U` and `-g` were given: ids, or names.
  var names: [(kind: NamedKind, text: String)] = []
  var profiles: [[UInt8]] = []
  var isInverted = false
  var isUnique = false
  var passesOthers = false
  var isStrict = false
  var isFast = false
  var maxCount = Int.max
  /// How many threads read a large file; 0 for as many as there are cores.
  var jobs = 0
  var output = Output.original
  var grouping = Grouping()
  var rejects: String?
  /// The list of prices for transcripts; nil for that of the configuration.
  var prices: String?
  var isVerbose = false
  /// Whether counts of another run, the last ones, are as good while it makes new ones.
  var isShared = false
  /// Where counts by hour go besides.
  var times: String?
  /// Files to read; `-` is standard input.
  var files: [String] = []

  var hasNames: Bool { names.contains { !NameKey.isID($0.text) } }

  private let now: Timestamp
  private var texts: [String] = []
  private var regexes: [String] = []
  private var ignoresCase = false
  private var isCount = false
  private var isQuiet = false

  init(now: Timestamp) { self.now = now }

  var printsRecords: Bool {
    switch output {
    case .original, .canonical, .fields: true
    case .count, .groups, .nothing: false
    }
  }

  @inline(__always)
  func isOfProfile(_ profile: ScanValue, _ scratch: ScanScratch) -> Bool {
    profiles.isEmpty || profiles.contains { equals(profile, $0, scratch) }
  }

  static let table = OptionTable<FilterOptions>(
    program: "action-filter", summary: "Select actions and write the lines they came in.",
    synopsis: "[options] [FILE ...]", guesses: ["--json": "it prints JSON anyway"],
    options: [
      Option(
        "k", "kind", "KIND,...", "of these kinds; * ? [...] match as in the shell",
        .list.offering(.words(ActionKind.all))
      ) { $0.predicate.indexed.kinds += $1.map { Glob($0.utf8, hasSets: true) } },
      Option(
        "d", "domain", "DOMAIN,...", "of these domains: llm, voice, text, error, ...",
        .list.offering(.words(DomainTest.words))
      ) { options, words throws(UsageError) in
        for word in words { try options.predicate.indexed.domains.add(word) }
      },
      Option(
        "g", "guild", "GUILD", "of this guild, by its id or its name",
        .word.offering(AskedNames.guilds)
      ) {
        $0.predicate.indexed.guilds.append(IDTest($1))
        $0.names.append((.guild, $1))
      },
      Option("c", "channel", "ID", "of this channel", .word) {
        $0.predicate.indexed.channels.append(IDTest($1))
      },
      Option(
        "U", "user", "USER", "of this user, by the id or the name",
        .word.offering(AskedNames.users)
      ) {
        $0.predicate.indexed.users.append(IDTest($1))
        $0.names.append((.user, $1))
      },
      Option("S", "since", "TIME", "not older than 15m, 2h, today, tue 9:00, or a time", .moment) {
        $0.predicate.indexed.since = $1.timestamp(now: $0.now)
      },
      Option("B", "before", "TIME", "older than 15m, 2h, today, tue 9:00, or a time", .moment) {
        $0.predicate.indexed.before = $1.timestamp(now: $0.now)
      },
      Option("F", "text", "TEXT", "with this text in the content", .text, \.texts),
      Option(
        "E", "regex", "REGEX", "with content that matches this regular expression", .text,
        \.regexes),
      Option("i", "ignore-case", "upper and lower case are the same in -F and -E", \.ignoresCase),
      Option("v", "invert", "select what the other options do not", \.isInverted),
      Option("u", "unique", "each action only once", \.isUnique),
      Option("n", "max-count", "COUNT", "stop after COUNT actions", .wholeNumber(), \.maxCount),
      Option("a", "others", "also pass records that are not actions", \.passesOthers),
      Option(
        "o", "output", "FIELD,...", "print these members; canonical: each action as a row",
        Reading(output, completion: .words(["canonical"] + Projection.names)), \.output),
      Option(
        nil, "by", "KEY,...", "print counts and cost by kind, model, user, hour, ...",
        Grouping.list, \.grouping.keys),
      Option.quiet("print nothing; the exit status tells")
        .at(\.isQuiet),
    ],
    rare: [
      Option(
        nil, "profile", "NAME,...", "records of these profiles",
        .list.offering(CompletionNames.profiles)
      ) {
        $0.profiles += $1.map { Array($0.utf8) }
      },
      Option("M", "message", "ID", "of this message", .word) {
        $0.predicate.messages.append(IDTest($1))
      },
      Option(nil, "id", "ID,...", "with these ids", .list) {
        $0.predicate.ids += $1.map { IDTest($0) }
      },
      Option(nil, "thread", "ID", "of this conversation: a channel, or a voice session", .word) {
        $0.predicate.threads.append(ThreadTest($1))
      },
      Option(nil, "until", "TIME", "older than that time; of a day, to its end", .moment) {
        let time = $1.timestamp(now: $0.now)
        var days = TimeBuckets(.day)
        let isDay = time.nanoseconds == 0 && days.start(of: time.seconds) == time.seconds
        $0.predicate.indexed.before =
          isDay ? Timestamp(seconds: days.next(after: time.seconds)) : time
      },
      Option(
        nil, "last", "DAYS", "of the last days, today among them", .wholeNumber(in: 1...36_500)
      ) {
        var days = TimeBuckets(.day)
        let today = days.start(of: $0.now.seconds)
        // Noon is in the day before, whatever the clocks did.
        $0.predicate.indexed.since = Timestamp(
          seconds: days.start(of: today - Int64($1 - 1) * 86_400 + 43_200))
      },
      Option(
        "x", "min-cost", "USD", "that cost at least this much", Reading(cost), \.predicate.minCost),
      Option(
        nil, "max-cost", "USD", "that cost at most this much", Reading(cost), \.predicate.maxCost),
      Option(
        nil, "where", "PATH=VALUE", "with this value at a JSON pointer into the metadata",
        Reading { argument throws(UsageError) in try MetadataTest(argument.value) },
        \.predicate.wheres
      ).formerly("w"),
      Option(
        "j", "jobs", "N", "read a large file by so many threads; 0 is one per core",
        .wholeNumber(in: 0...256), \.jobs),
      Option("N", "count", "print only the number of selected actions", \.isCount),
      Option(nil, "contents", "print what the indexes of packed files say", \.mode, .contents),
      Option(
        nil, "pack", "compress a file with zstd, with an index that skips what cannot match",
        \.mode, .pack),
      Option(
        nil, "times", "FILE", "with --by: write the counts of each hour to a file", .path, \.times),
      Option(
        nil, "total", "print the count and cost of all, behind the groups of --by",
        \.grouping.hasTotal),
      Option(nil, "usage", "that cost something or used tokens; --by sums the tokens, too") {
        $0.predicate.isUsage = true
        $0.grouping.isUsage = true
      },
      Option(
        nil, "prices", "FILE", "with --usage: what models cost, for transcripts", .path, \.prices),
      Option(
        nil, "shared", "with --usage: print the last counts while another run counts the same",
        \.isShared),
      Option(
        nil, "verbose", "with --usage: count the lines of transcripts that cannot be read",
        \.isVerbose),
      Option(nil, "strict", "check all of the grammar and UTF-8 of every line", \.isStrict),
      Option(nil, "fast", "do not read lines that cannot match, nor report their faults", \.isFast),
      Option("R", "rejects", "FILE", "write the bad lines to a file", .path, \.rejects),
    ]
  ) { options, words throws(UsageError) in try options.finish(words) }

  private mutating func finish(_ words: CommandWords) throws(UsageError) {
    if mode != .select {
      if let other = words.names.first(where: { $0 != "pack" && $0 != "contents" }) {
        throw UsageError("--\(other) is not for --\(mode == .pack ? "pack" : "contents")")
      }
      if words.names.count > 1 { throw UsageError("--pack and --contents exclude each other") }
      if mode == .pack, words.paths.count > 1 { throw UsageError("--pack takes one file") }
    }
    predicate.texts = texts.map { TextSearch($0, ignoresCase: ignoresCase) }
    for regex in regexes {
      let search = try Failure.rethrowing(try RegexSearch(regex, ignoresCase: ignoresCase)) {
        UsageError("--regex \(regex): \($0.reason)")
      }
      predicate.regexes.append(search)
    }
    if isCount { output = .count }
    if !grouping.keys.isEmpty || grouping.hasTotal { output = .groups }
    if times != nil, output != .groups { throw UsageError("--times is for --by") }
    if isQuiet {
      output = .nothing
      maxCount = min(maxCount, 1)
    }
    files = words.paths.isEmpty ? ["-"] : words.paths
  }

  @Sendable private static func cost(_ argument: OptionArgument) throws(UsageError) -> MoneyAmount {
    guard let amount = MoneyAmount(argument.value) else { throw argument.fault("not a number") }
    return amount
  }

  @Sendable private static func output(_ argument: OptionArgument) throws(UsageError) -> Output {
    argument.value == "canonical" ? .canonical : .fields(try Projection(argument.value))
  }
}

/// Names that a shell may offer. The filter talks to nobody: agent-call asks who has them,
/// and gives up where that takes long.
enum AskedNames {
  static let guilds = Completion.live { ask("-g") }
  static let users = Completion.live { ask("-u") }

  private static func ask(_ option: String) -> [String] {
    let words = ["agent-call", "--completions", "words", option, ""]
    guard let child = try? ChildProcess(words, error: .nothing) else { return [] }
    var lines = LineReader(descriptor: child.output)
    var names: [String] = []
    while let line = try? lines.next() { names.append(String(decoding: line.bytes, as: UTF8.self)) }
    return names
  }
}

/// The members of an action that a row of the dashboard has, in its order, and the level.
enum RowMember: String, CaseIterable {
  case id
  case createdAt = "created_at"
  case guild = "guild_id"
  case channel = "channel_id"
  case message = "message_id"
  case user = "user_id"
  case kind, content, metadata
  case cost = "usd_cost"
  case level

  @inline(__always)
  func value(in fields: ActionFields) -> ScanValue {
    switch self {
    case .id: fields.id
    case .createdAt: fields.createdAt
    case .guild: fields.guild
    case .channel: fields.channel
    case .message: fields.message
    case .user: fields.user
    case .kind: fields.kind
    case .content: fields.content
    case .metadata: fields.metadata
    case .cost: fields.cost
    case .level: fields.level
    }
  }

  /// What stands for one that is not known.
  @inline(__always)
  var unknown: StaticString { self == .cost ? "0" : "null" }
}

extension RecordWriter {
  @inline(__always)
  func put(_ text: StaticString) throws(WriteFailure) {
    try write(text.bytes)
  }
}

/// The members that `-o FIELD,...` prints of each action, in that order.
struct Projection: Equatable {
  private enum Source: Equatable {
    case member(RowMember)
    /// Whose it is; where that is not said a member of that name: its index in `others`.
    case profile(Int)
    /// A place in the metadata: its index in `pointers`.
    case pointer(Int)
    /// A member of another name: its index in `others`.
    case other(Int)
  }

  private struct Field: Equatable {
    /// Where in `text` what comes before the value stands: `,"kind":`.
    let lead: Range<Int>
    let source: Source
  }

  private var fields: [Field] = []
  private var pointers: [JSONPointer] = []
  private var others: [[UInt8]] = []
  /// One array for all, so that nothing is counted as held for each record.
  private var text: [UInt8] = []

  static let names = RowMember.allCases.filter { $0 != .level }.map(\.rawValue)

  init(_ list: String) throws(UsageError) {
    var seen: Set<String> = []
    for part in list.split(separator: ",", omittingEmptySubsequences: false) {
      let name = String(part)
      guard !name.isEmpty else { throw UsageError("--output \(list): a name is missing") }
      guard seen.insert(name).inserted else {
        throw UsageError("--output \(list): \(name) is named twice")
      }
      let lead = (fields.isEmpty ? "{" : ",") + JSONQuote.string(name) + ":"
      let start = text.count
      text += Array(lead.utf8)
      fields.append(Field(lead: start..<text.count, source: try source(name, list)))
    }
  }

  private mutating func source(_ name: String, _ list: String) throws(UsageError) -> Source {
    if let member = RowMember(rawValue: name) { return .member(member) }
    guard name.hasPrefix("/") else {
      others.append(Array(name.utf8))
      return name == "profile" ? .profile(others.count - 1) : .other(others.count - 1)
    }
    let pointer = try UsageError.rethrowing(try JSONPointer(name)) {
      UsageError("--output \(list): \($0.problem)")
    }
    pointers.append(pointer)
    return .pointer(pointers.count - 1)
  }

  /// Writes one object and a LF: null for what is not there, a cost of 0 when
  /// it is unknown, and every value with its own bytes.
  func write(
    _ members: ActionFields, _ action: ScanValue, _ profile: ScanValue, to writer: RecordWriter
  ) throws(WriteFailure) {
    try text.withUnsafeBufferPointer { text throws(WriteFailure) in
      try write(members, action, profile, UnsafeRawBufferPointer(text), to: writer)
    }
  }

  @inline(__always)
  private func write(
    _ members: ActionFields, _ action: ScanValue, _ profile: ScanValue,
    _ text: UnsafeRawBufferPointer, to writer: RecordWriter
  ) throws(WriteFailure) {
    let found = others.isEmpty ? [] : values(of: action)
    for field in fields {
      try writer.write(UnsafeRawBufferPointer(rebasing: text[field.lead]))
      var unknown: StaticString = "null"
      let value: ScanValue
      switch field.source {
      case .member(let member): (value, unknown) = (member.value(in: members), member.unknown)
      case .profile(let index): value = profile.isAbsent ? found[index] : profile
      case .pointer(let index): value = pointers[index].resolve(members.metadata)
      case .other(let index): value = found[index]
      }
      if value.isNull { try writer.put(unknown) } else { try writer.write(value.bytes) }
    }
    try writer.put("}\n")
  }

  private func values(of action: ScanValue) -> [ScanValue] {
    var found = [ScanValue](repeating: .absent, count: others.count)
    // The action was read once: there is nothing to go wrong any more.
    guard var members = try? ScanMembers(action.bytes) else { return found }
    while (try? members.next()) == true {
      for (index, name) in others.enumerated()
      where name.withUnsafeBytes({ members.isKey($0) }) { found[index] = members.value }
    }
    return found
  }
}
