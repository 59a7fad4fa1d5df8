import Core
import Records

struct ActionPredicate: Equatable {
  /// What the index of a packed file has an answer to, see `FrameJudge`.
  struct Indexed: Equatable {
    var kinds: [Glob] = []
    var domains = DomainTest()
    var guilds: [IDTest] = []
    var channels: [IDTest] = []
    var users: [IDTest] = []
    var since: Timestamp?
    var before: Timestamp?
  }

  var indexed = Indexed()
  var messages: [IDTest] = []
  var ids: [IDTest] = []
  var threads: [ThreadTest] = []
  var minCost: MoneyAmount?
  var maxCost: MoneyAmount?
  var texts: [TextSearch] = []
  var regexes: [RegexSearch] = []
  var wheres: [MetadataTest] = []
  /// Whether it must have cost something or used tokens.
  var isUsage = false

  /// Whether an action is that, the cheap questions first.
  func matches(_ fields: ActionFields, _ scratch: ScanScratch) -> Bool {
    guard isKind(fields, scratch) else { return false }
    return has(indexed.guilds, fields.guild, scratch)
      && has(indexed.channels, fields.channel, scratch)
      && has(indexed.users, fields.user, scratch) && has(messages, fields.message, scratch)
      && has(ids, fields.id, scratch)
      && isInTime(fields, scratch) && costs(fields) && holds(fields, scratch)
      && (threads.isEmpty || ThreadTest.matches(threads, fields, scratch))
      && (wheres.isEmpty || wheres.contains { $0.matches(fields.metadata, scratch) })
      && (!isUsage || fields.isUsage)
  }

  private func isKind(_ fields: ActionFields, _ scratch: ScanScratch) -> Bool {
    let (kinds, domains) = (indexed.kinds, indexed.domains)
    if kinds.isEmpty && domains.isEmpty { return true }
    // Before the kind, which may stand in the memory for texts.
    let isErrorLevel = !domains.isEmpty && Self.isError(fields, scratch)
    // Without a kind, no pattern matches, and the domain is other.
    let hasKind = fields.kind.isString
    let kind = hasKind ? scratch.text(of: fields.kind) : .init(start: nil, count: 0)
    guard kinds.isEmpty || hasKind && kinds.contains(where: { $0.matches(kind) }) else {
      return false
    }
    return domains.isEmpty || domains.matches(kind: kind, isErrorLevel: isErrorLevel)
  }

  static func isError(_ fields: ActionFields, _ scratch: ScanScratch) -> Bool {
    !fields.level.isNull && equals(fields.level, error, scratch)
  }

  private static let error = Array("error".utf8)

  var hasOtherTests: Bool {
    var rest = self
    rest.indexed = Indexed()
    return rest != ActionPredicate()
  }

  private func has(_ tests: [IDTest], _ value: ScanValue, _ scratch: ScanScratch) -> Bool {
    tests.isEmpty || tests.contains { $0.matches(value, scratch) }
  }

  private func isInTime(_ fields: ActionFields, _ scratch: ScanScratch) -> Bool {
    let (since, before) = (indexed.since, indexed.before)
    guard since != nil || before != nil else { return true }
    guard let time = fields.time(scratch) else { return false }
    if let since, time < since { return false }
    if let before, time >= before { return false }
    return true
  }

  private func costs(_ fields: ActionFields) -> Bool {
    if let minCost {
      guard let order = minCost.order(of: fields.cost), order >= 0 else { return false }
    }
    if let maxCost {
      guard let order = maxCost.order(of: fields.cost), order <= 0 else { return false }
    }
    return true
  }

  private func holds(_ fields: ActionFields, _ scratch: ScanScratch) -> Bool {
    guard !texts.isEmpty || !regexes.isEmpty else { return true }
    guard fields.content.isString, let raw = fields.content.rawText else { return false }
    // Few contents are worth decoding.
    guard texts.isEmpty || texts.contains(where: { $0.mayMatch(raw) }) else { return false }
    let text = scratch.text(of: fields.content)
    return (texts.isEmpty || texts.contains { $0.matches(text) })
      && (regexes.isEmpty || regexes.contains { $0.matches(text) })
  }
}

extension ActionFields {
  /// When the action was; nil when it does not say so in RFC 3339.
  func time(_ scratch: ScanScratch) -> Timestamp? {
    guard createdAt.isString else { return nil }
    return Timestamp(rfc3339: scratch.text(of: createdAt))
  }
}

extension ScanScratch {
  func text(of value: ScanValue) -> UnsafeRawBufferPointer {
    text(of: value.rawText ?? UnsafeRawBufferPointer(start: nil, count: 0))
  }
}

/// The domains that `-d` names.
struct DomainTest: Equatable {
  private var domains: Set<ActionDomain> = []
  private var hasTool = false
  private var hasError = false

  static var words: [String] { ActionDomain.allCases.map(\.rawValue) + ["tool", "error"] }

  var isEmpty: Bool { domains.isEmpty && !hasTool && !hasError }

  mutating func add(_ word: String) throws(UsageError) {
    switch word {
    case "tool": hasTool = true
    case "error": hasError = true
    default:
      guard let domain = ActionDomain(rawValue: word) else {
        let hint = NearestWord.hint(for: word, among: Self.words)
        throw UsageError("--domain \(word): not one of \(Self.words.joined(separator: " "))\(hint)")
      }
      domains.insert(domain)
    }
  }

  /// Whether an action is in one of them.
  func matches(kind: UnsafeRawBufferPointer, isErrorLevel: Bool) -> Bool {
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    return hasTool && ActionKind.isTool(kind: kind)
      || hasError && (isErrorLevel || ActionKind.isError(kind: kind, level: none))
      || !domains.isEmpty && domains.contains(ActionKind.domain(of: kind))
  }
}

/// A JSON string of this text, or a number that is the same.
struct IDTest: Equatable {
  let text: [UInt8]

  init(_ text: String) { self.text = Array(text.utf8) }

  /// Whether a member is this id; null and absent are none.
  func matches(_ value: ScanValue, _ scratch: ScanScratch) -> Bool {
    (value.isString || value.isNumber) && equals(value, text, scratch)
  }
}

/// Whether a string, a number, true or false is what a person wrote: strings
/// compare after their escapes, numbers as numbers.
func equals(_ value: ScanValue, _ text: [UInt8], _ scratch: ScanScratch) -> Bool {
  guard let raw = value.rawText else { return false }
  if value.isString {
    let decoded = scratch.text(of: raw)
    return decoded.count == text.count && decoded.elementsEqual(text)
  }
  if raw.count == text.count && raw.elementsEqual(text) { return true }
  return text.withUnsafeBytes { bytes in
    guard let number = ScanNumber(value), let other = ScanNumber(bytes) else { return false }
    return number.compare(other) == 0
  }
}

/// Compared by its exact decimal value.
struct MoneyAmount: Equatable {
  private let token: [UInt8]

  init?(_ text: String) {
    var token = Array(text.utf8)
    if token.first == UInt8(ascii: "+") { token.removeFirst() }
    if token.first == UInt8(ascii: ".") { token.insert(0x30, at: 0) }
    guard token.withUnsafeBytes({ ScanNumber($0) != nil }) else { return nil }
    self.token = token
  }

  /// How a cost stands to this amount: below zero when it is less. An unknown
  /// cost (null, absent) is 0 as in the rows; nil for what is not a number.
  func order(of cost: ScanValue) -> Int? {
    token.withUnsafeBytes { bytes -> Int? in
      guard let amount = ScanNumber(bytes) else { return nil }
      if let number = ScanNumber(cost) { return number.compare(amount) }
      guard cost.isNull else { return nil }
      return amount.isNegative ? 1 : amount.isZero ? 0 : -1
    }
  }
}

/// A value that the metadata is to hold at a place: `--where PATH=VALUE`.
struct MetadataTest: Equatable {
  private let pointer: JSONPointer
  private let text: [UInt8]

  init(_ argument: String) throws(UsageError) {
    guard let equals = argument.firstIndex(of: "=") else {
      throw UsageError("--where \(argument): PATH=VALUE is needed")
    }
    pointer = try UsageError.rethrowing(try JSONPointer(argument[..<equals])) {
      UsageError("--where \(argument): \($0.problem)")
    }
    text = Array(argument[argument.index(after: equals)...].utf8)
  }

  /// Whether the metadata holds the value there. Strings, numbers, true and
  /// false match what they are; null and absent both match `null`.
  func matches(_ metadata: ScanValue, _ scratch: ScanScratch) -> Bool {
    let value = pointer.resolve(metadata)
    if value.isNull { return text.elementsEqual("null".utf8) }
    return equals(value, text, scratch)
  }
}

/// A conversation that an action is to belong to: `--thread ID`. That of a channel is
/// known by the channel's id, that of a session, as one of voice, by the `sessionId` in
/// the metadata.
struct ThreadTest: Equatable {
  private let id: IDTest

  static let session = JSONPointer(member: "sessionId")

  init(_ text: String) { id = IDTest(text) }

  /// What an action's conversation is known by.
  static func id(of fields: ActionFields) -> ScanValue {
    fields.channel.isNull ? session.resolve(fields.metadata) : fields.channel
  }

  /// Whether an action is of one of the conversations; the metadata is walked once, and
  /// only where the channel does not tell.
  static func matches(
    _ tests: [ThreadTest], _ fields: ActionFields, _ scratch: ScanScratch
  ) -> Bool {
    if tests.contains(where: { $0.id.matches(fields.channel, scratch) }) { return true }
    guard fields.metadata.isObject else { return false }
    let session = session.resolve(fields.metadata)
    return tests.contains { $0.id.matches(session, scratch) }
  }

  /// What every line of the conversation has one of; nil for ids with many spellings.
  var literals: [LiteralSearch.Needle]? { id.literals }
}
