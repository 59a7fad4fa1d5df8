import Agent
import Core
import Screen

/// What the command line of mem-search asks for.
struct MemOptions {
  var mode = Mode.search
  /// The words that are no options.
  var operands: [String] = []
  /// Of `--edit` and `--fact-profile`.
  var id = ""
  var guild: String?
  var channel: String?
  var user: String?
  /// Of `--snapshot`: `text` or `voice`.
  var turn = "text"
  /// In lower case.
  var types: [String] = []
  var subject: String?
  /// Hits to ask for.
  var limit: Int?
  var minScore: Double?
  var count: Int?
  var isOffline = false
  var fact: String?
  var confidence: String?
  var evidence: String?
  var isSure = false
  /// Nil: a table on a terminal, else JSON.
  var form: RowOutput.Form?
  var look = LookOptions()
  /// Seconds for everything; 0 for no limit; nil for the default of a request.
  var maxTime: Double?
  var access = AccessOptions()
  var quiet = false
  var verbose = false

  /// Reads parsed options.
  ///
  /// - Throws: `UsageError` for what makes no sense.
  init(_ parsed: ParsedOptions) throws(UsageError) {
    try readMode(parsed)
    for item in parsed.items {
      guard mode.takes(item.name) else {
        throw UsageError("--\(item.name) is not for \(modeName)")
      }
      try read(item)
    }
    operands = parsed.operands
    try checkOperands()
    if mode == .edit, types.count > 1 { throw UsageError("--type: a fact has one") }
    if access.tokenFile == "-", operands.contains("-") || (mode == .edit && !isSure) {
      throw UsageError("standard input cannot be the token and an answer")
    }
  }

  private var modeName: String { mode == .search ? "a search" : "--\(mode.rawValue)" }

  private mutating func readMode(_ parsed: ParsedOptions) throws(UsageError) {
    var chosen: Mode?
    for item in parsed.items {
      guard let mode = Mode(rawValue: item.name) else { continue }
      if let chosen, chosen != mode {
        throw UsageError("--\(chosen.rawValue) and --\(mode.rawValue) exclude each other")
      }
      if mode == .edit, chosen == .edit { throw UsageError("--edit: one fact at a time") }
      chosen = mode
    }
    mode = chosen ?? .search
  }

  private func checkOperands() throws(UsageError) {
    let (name, range) = mode.operands
    if operands.count < range.lowerBound {
      throw UsageError(
        mode == .search
          ? "a query is needed, or one of --facts --subjects --reflections --markdown"
          : "\(modeName) needs an \(name)")
    }
    if operands.count > range.upperBound {
      throw UsageError("too many words: \(operands[range.upperBound])")
    }
    if mode == .search, text.isEmpty { throw UsageError("the query is empty") }
  }

  /// The operands as one text.
  var text: String { FactText.folded(operands.joined(separator: " ")) }

  /// Whether `--edit` says what is to become of the fact.
  var hasChange: Bool {
    fact != nil || confidence != nil || evidence != nil || subject != nil || !types.isEmpty
  }

  private mutating func read(_ item: ParsedOptions.Item) throws(UsageError) {
    if access.take(item) { return }
    if try look.take(item) { return }
    let value = item.value
    switch item.name {
    case "edit", "fact-profile": id = try Self.id(item)
    case "guild": guild = try Self.id(item)
    case "channel": channel = try Self.id(item)
    case "user": user = try Self.id(item)
    case "mode":
      guard value == "text" || value == "voice" else {
        throw UsageError("--mode \(value): not text or voice")
      }
      turn = value
    case "type":
      // A type that holds no comma: lower-cased by the backend, so here too.
      let words = value.split(separator: ",").map { FactText.folded(String($0)).lowercased() }
      if words.isEmpty && mode != .edit { throw UsageError("--type: nothing is named") }
      types += words.isEmpty ? ["other"] : words
    case "subject": subject = try Self.id(item)
    case "limit":
      limit = try item.wholeNumber()
      if limit == 0 { throw UsageError("--limit 0: nothing to ask for") }
    case "count": count = try item.wholeNumber()
    case "best": count = 1
    case "min-score":
      guard let score = Double(value), score.isFinite else {
        throw UsageError("--min-score \(value): not a number")
      }
      minScore = score
    case "fact": fact = try Self.words(item)
    case "confidence": confidence = value
    case "evidence": evidence = try Self.words(item)
    case "yes": isSure = true
    case "offline": isOffline = true
    case "output": form = try RowOutput.Form(item)
    case "max-time": maxTime = try item.seconds()
    case "quiet": quiet = true
    case "verbose": verbose = true
    default: break
    }
  }

  private static func id(_ item: ParsedOptions.Item) throws(UsageError) -> String {
    if item.value.isEmpty { throw UsageError("--\(item.name): nothing is named") }
    return item.value
  }

  /// Text that is to be kept. What is no UTF-8 came here as U+FFFD.
  private static func words(_ item: ParsedOptions.Item) throws(UsageError) -> String {
    if item.value.unicodeScalars.contains("\u{fffd}") {
      throw UsageError("--\(item.name): not UTF-8")
    }
    return item.value
  }
}
