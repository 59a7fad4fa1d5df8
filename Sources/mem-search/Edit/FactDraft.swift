import Core

/// What a person may change of a fact.
struct FactDraft: Equatable {
  var subject: String
  var type: String
  var fact: String
  /// Empty for none.
  var evidence: String
  /// As it is written; a number from 0 to 1 when it is sent.
  var confidence: String

  /// The fact as it is.
  init(_ fact: Fact) {
    subject = fact.subject
    type = fact.type
    self.fact = fact.fact
    evidence = fact.evidence ?? ""
    confidence = fact.confidenceText ?? ""
  }

  /// The members in the order in which they are shown.
  static let names = ["subject", "type", "confidence", "fact", "evidence"]

  /// A member by its name.
  subscript(name: String) -> String {
    get {
      switch name {
      case "subject": subject
      case "type": type
      case "confidence": confidence
      case "fact": fact
      default: evidence
      }
    }
    set {
      switch name {
      case "subject": subject = newValue
      case "type": type = newValue
      case "confidence": confidence = newValue
      case "fact": fact = newValue
      default: evidence = newValue
      }
    }
  }

  /// The draft as the backend will keep it: white space folded, the type in
  /// lower case. Members that are as they were stay so, whatever they hold.
  ///
  /// - Parameter base: the fact as it is.
  func tidied(from base: FactDraft) -> FactDraft {
    var tidy = self
    for name in Self.names where self[name] != base[name] {
      let text = FactText.folded(self[name])
      tidy[name] = name == "type" ? (text.isEmpty ? "other" : text.lowercased()) : text
    }
    return tidy
  }

  /// Why the backend would refuse the draft, or keep less than it says; nil when
  /// it would not.
  var fault: String? {
    if subject.isEmpty { return "subject: empty" }
    if fact.isEmpty { return "fact: empty" }
    for name in Self.names {
      if let excess = FactText.excess(name, self[name]) { return excess }
    }
    guard isNumber, let number = Double(confidence), (0...1).contains(number) else {
      return "confidence \(confidence): not a number from 0 to 1"
    }
    return nil
  }

  /// A number as JSON spells it (RFC 8259, section 6).
  private var isNumber: Bool {
    guard let first = confidence.utf8.first, first &- 48 < 10 else { return false }
    return Array(confidence.utf8).withUnsafeBytes { ScanValidator.firstFault($0) } == nil
  }

  /// The body of the request: all members, since what is left out is cleared.
  ///
  /// - Parameter guild: of the fact, or any for one that belongs to none.
  func body(guild: String) -> [UInt8] {
    let members = [
      ("guildId", guild), ("subject", subject), ("fact", fact), ("factType", type),
    ].map { "\"\($0)\":" + JSONQuote.string($1) }
    let evidence = self.evidence.isEmpty ? "null" : JSONQuote.string(self.evidence)
    let text =
      members.joined(separator: ",")
      + ",\"evidenceText\":\(evidence),\"confidence\":\(confidence)"
    return Array(("{" + text + "}").utf8)
  }
}
