import Core
import Records

/// What an action is to be: the alternatives of each option, all of which must
/// hold.
struct ActionPredicate {
  var kinds: [KindPattern] = []
  var domains = DomainTest()
  var guilds: [IDTest] = []
  var channels: [IDTest] = []
  var users: [IDTest] = []
  var messages: [IDTest] = []
  var since: Timestamp?
  var before: Timestamp?
  var minCost: MoneyAmount?
  var maxCost: MoneyAmount?
  var texts: [TextSearch] = []
  var regexes: [RegexSearch] = []
  var wheres: [MetadataTest] = []

  /// Whether an action is that, the cheap questions first.
  ///
  /// - Parameter scratch: memory for texts with escapes.
  func matches(_ fields: ActionFields, _ scratch: ScanScratch) -> Bool {
    guard isKind(fields, scratch) else { return false }
    return has(guilds, fields.guild, scratch) && has(channels, fields.channel, scratch)
      && has(users, fields.user, scratch) && has(messages, fields.message, scratch)
      && isInTime(fields, scratch) && costs(fields) && holds(fields, scratch)
      && (wheres.isEmpty || wheres.contains { $0.matches(fields.metadata, scratch) })
  }

  private func isKind(_ fields: ActionFields, _ scratch: ScanScratch) -> Bool {
    if kinds.isEmpty && domains.isEmpty { return true }
    let isErrorLevel = !fields.level.isNull && equals(fields.level, Self.error, scratch)
    guard fields.kind.isString else {
      // No kind: none can match, and the domain is other.
      let none = UnsafeRawBufferPointer(start: nil, count: 0)
      return kinds.isEmpty && domains.matches(kind: none, isErrorLevel: isErrorLevel)
    }
    let kind = scratch.text(of: fields.kind)
    return (kinds.isEmpty || kinds.contains { $0.matches(kind) })
      && (domains.isEmpty || domains.matches(kind: kind, isErrorLevel: isErrorLevel))
  }

  private static let error = Array("error".utf8)

  private func has(_ tests: [IDTest], _ value: ScanValue, _ scratch: ScanScratch) -> Bool {
    tests.isEmpty || tests.contains { $0.matches(value, scratch) }
  }

  private func isInTime(_ fields: ActionFields, _ scratch: ScanScratch) -> Bool {
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
  /// The text of a string value.
  func text(of value: ScanValue) -> UnsafeRawBufferPointer {
    text(of: value.rawText ?? UnsafeRawBufferPointer(start: nil, count: 0))
  }
}
