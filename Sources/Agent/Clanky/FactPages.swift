import Core

/// Finds more facts than one answer holds.
///
/// The backend knows no cursor: an answer has the newest `most` facts of a
/// guild, of a subject, or with a text in them (Agent/Clanky/CONTRACT.md 5.2). So where an
/// answer is full, the facts are asked for by subject; where a subject has more
/// than an answer, by the words that its facts were seen to hold, until there
/// are as many as the backend counts, or words bring nothing new any more. Who
/// looks for some facts among more subjects than are listed asks by words first,
/// of all subjects at once: such an answer is full, that of a subject has few
/// facts. This type decides what to ask next; a fact that several answers hold is kept once.
struct FactPages {
  static let most = 500
  /// When so many words in a row brought nothing new, the rest stays unseen.
  static let patience = 60

  struct Query: Equatable {
    var subject: String?
    var text: String?
  }

  enum Step: Equatable {
    case ask([Query])
    case askSubjects
    case done
  }

  struct Shortage: Equatable {
    /// Nil when there may be subjects that were never seen.
    var subject: String?
    var found: Int
    var expected: Int?
  }

  /// At a time: what the answer to one teaches is not known to the others.
  private static let wordsAtOnce = 4
  /// More subjects than are listed are tried one by one only when so many words did not do.
  private static let firstWords = 300

  private let subject: String?
  private let leavesPersons: Bool
  private let seeksFew: Bool
  private var wordsLeft = 0
  private var queue: [Query]
  private var needsSubjects = false
  private var hasAllSubjects = true
  private var digs: [WordDig] = []
  private var expected: [String: Int] = [:]
  private var counts: [String: Int] = [:]
  private var rows: [FactRow] = []
  private var known: Set<String> = []
  private var seen: Set<[UInt8]> = []

  private(set) var shortages: [Shortage] = []

  /// `leavesPersons`: without subjects that have facts of persons alone: every guild has those.
  init(subject: String?, leavesPersons: Bool = false, seeksFew: Bool = false) {
    (self.subject, self.leavesPersons, self.seeksFew) = (subject, leavesPersons, seeksFew)
    queue = [Query(subject: subject, text: nil)]
  }

  mutating func next() -> Step {
    if wordsLeft > 0, let index = digs.firstIndex(where: { $0.subject == nil }) {
      wordsLeft -= Self.wordsAtOnce
      let words = words(index)
      if !words.isEmpty { return .ask(words) }
      wordsLeft = 0
    }
    let open = queue.filter { !isWhole($0.subject) }
    queue = []
    if !open.isEmpty { return .ask(open) }
    if needsSubjects { return .askSubjects }
    while let dig = digs.first {
      let subject = dig.subject
      if !isWhole(subject) {
        let words = words(0)
        if !words.isEmpty { return .ask(words) }
        let all = subject.flatMap { expected[$0] }
        shortages.append(Shortage(subject: subject, found: found(subject), expected: all))
      }
      digs.removeFirst()
    }
    return .done
  }

  private func found(_ subject: String?) -> Int {
    subject.map { counts[$0, default: 0] } ?? rows.count
  }

  /// Whether there are as many facts of a subject as the backend counts.
  private func isWhole(_ subject: String?) -> Bool {
    subject.flatMap { expected[$0] }.map { found(subject) >= $0 } ?? false
  }

  private mutating func words(_ index: Int) -> [Query] {
    let subject = digs[index].subject
    let known = found(subject)
    let all =
      subject.map { expected[$0] ?? known * 2 } ?? max(expected.values.reduce(0, +), known * 2)
    return (0..<Self.wordsAtOnce).compactMap { _ in
      digs[index].next(known: known, expected: all)
    }.map { Query(subject: subject, text: $0) }
  }

  mutating func receive(subjects: [[UInt8]]) {
    needsSubjects = false
    var names: [String] = []
    var ofGuild: Set<String> = []
    for bytes in subjects {
      guard let row = JSONValue(bytes), let name = row["subject"]?.text else { continue }
      // One subject may be there in several scopes.
      if expected[name] == nil { names.append(name) }
      expected[name, default: 0] += Int(row["fact_count"]?.integer ?? 0)
      if !Fact.isOfPerson(scope: row["scope"]?.string) { ofGuild.insert(name) }
    }
    if subject != nil { return }
    for name in counts.keys.sorted() where expected[name] == nil { names.append(name) }
    queue += names.filter { name in
      if leavesPersons, expected[name] != nil, !ofGuild.contains(name) { return false }
      return expected[name] == nil || counts[name, default: 0] < expected[name] ?? 0
    }.map { Query(subject: $0, text: nil) }
    hasAllSubjects = subjects.count < Self.most
    if hasAllSubjects { return }
    digs.append(dig(nil))
    if seeksFew { wordsLeft = Self.firstWords }
  }

  mutating func receive(_ found: [[UInt8]], for query: Query) {
    var news = 0
    // Words bring most facts again and again: those are not worth being parsed.
    for bytes in found where seen.insert(bytes).inserted {
      let row = FactRow(bytes)
      guard known.insert(row.key).inserted else { continue }
      news += 1
      rows.append(row)
      let name = row.fact?.subject ?? ""
      if !hasAllSubjects, expected[name] == nil, counts[name] == nil {
        queue.append(Query(subject: name, text: nil))
      }
      counts[name, default: 0] += 1
      for index in digs.indices where digs[index].subject == nil || digs[index].subject == name {
        digs[index].add(row.fact)
      }
    }
    if query.text != nil {
      if let index = digs.firstIndex(where: { $0.subject == query.subject }) {
        digs[index].idle = news == 0 ? digs[index].idle + 1 : 0
      }
      return
    }
    // More than was asked for: this backend knows no limit.
    guard found.count == Self.most else { return }
    if let name = query.subject {
      digs.insert(dig(name), at: 0)
      needsSubjects = needsSubjects || (subject != nil && expected[name] == nil)
    } else {
      needsSubjects = true
    }
  }

  func has(_ ids: Set<String>) -> Bool { ids.isSubset(of: known) }

  func rows(of ids: Set<String>) -> [FactRow] { rows.filter { ids.contains($0.key) } }

  var newestFirst: [[UInt8]] { FactRow.newestFirst(rows) }

  private func dig(_ subject: String?) -> WordDig {
    var dig = WordDig(subject: subject)
    for row in rows where subject == nil || row.fact?.subject == subject { dig.add(row.fact) }
    return dig
  }
}
