import Core

/// Finds more facts than one answer holds.
///
/// The backend knows no cursor: an answer has the newest `most` facts of a
/// guild, of a subject, or with a text in them (contract, section 3). So where an
/// answer is full, the facts are asked for by subject; where a subject has more
/// than an answer, by the words that its facts were seen to hold, until there
/// are as many as the backend counts, or words bring nothing new any more. This
/// type decides what to ask next; a fact that several answers hold is kept once.
struct FactPages {
  /// The most facts, and the most subjects, of an answer.
  static let most = 500
  /// When so many words in a row brought nothing new, the rest stays unseen.
  static let patience = 60

  /// What one request asks for.
  struct Query: Equatable {
    /// All subjects when nil.
    var subject: String?
    /// All facts when nil.
    var text: String?
  }

  /// What is to be done next.
  enum Step: Equatable {
    /// Ask, then `take` the rows.
    case ask(Query)
    /// Find out which subjects there are, then `take` them.
    case askSubjects
    /// Everything that can be had was asked for.
    case done
  }

  /// A subject, or all of them, of which facts are missing.
  struct Shortage: Equatable {
    /// Nil when there may be subjects that were never seen.
    var subject: String?
    var found: Int
    var expected: Int?
  }

  private let subject: String?
  private var queue: [Query]
  private var needsSubjects = false
  private var hasAllSubjects = true
  private var digs: [WordDig] = []
  private var expected: [String: Int] = [:]
  private var counts: [String: Int] = [:]
  private var rows: [Row] = []
  private var known: Set<String> = []

  /// What could not be had.
  private(set) var shortages: [Shortage] = []

  /// - Parameter subject: nil for all.
  init(subject: String?) {
    self.subject = subject
    queue = [Query(subject: subject, text: nil)]
  }

  /// What to do next.
  mutating func next() -> Step {
    if !queue.isEmpty { return .ask(queue.removeFirst()) }
    if needsSubjects { return .askSubjects }
    while let dig = digs.first {
      let target = dig.subject.flatMap { expected[$0] }
      let found = dig.subject.map { counts[$0, default: 0] } ?? rows.count
      if target.map({ found >= $0 }) ?? false {
        digs.removeFirst()
        continue
      }
      if let word = digs[0].next(known: found, expected: target) {
        return .ask(Query(subject: dig.subject, text: word))
      }
      shortages.append(Shortage(subject: dig.subject, found: found, expected: target))
      digs.removeFirst()
    }
    return .done
  }

  /// Takes the subjects that there are, as the backend lists them.
  mutating func take(subjects: [[UInt8]]) {
    needsSubjects = false
    var names: [String] = []
    for bytes in subjects {
      guard let row = try? bytes.withUnsafeBytes({ try JSONValue.parse($0) }),
        let name = row["subject"]?.text
      else { continue }
      // One subject may be there in several scopes.
      if expected[name] == nil { names.append(name) }
      expected[name, default: 0] += Int(row["fact_count"]?.integer ?? 0)
    }
    if subject != nil { return }
    for name in counts.keys.sorted() where expected[name] == nil { names.append(name) }
    queue += names.filter { expected[$0] == nil || counts[$0, default: 0] < expected[$0] ?? 0 }
      .map { Query(subject: $0, text: nil) }
    hasAllSubjects = subjects.count < Self.most
    if !hasAllSubjects { digs.append(dig(nil)) }
  }

  /// Takes the answer to a query.
  ///
  /// - Parameters:
  ///   - found: as they came.
  ///   - query: what was asked.
  mutating func take(_ found: [[UInt8]], for query: Query) {
    var news = 0
    for bytes in found {
      let row = Row(bytes)
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

  /// Whether all of these ids were found.
  func has(_ ids: Set<String>) -> Bool { ids.isSubset(of: known) }

  /// The facts that were found, the newest update first.
  var newestFirst: [[UInt8]] {
    rows.enumerated().sorted { a, b in
      let (x, y) = (a.element.fact?.updatedAt ?? "", b.element.fact?.updatedAt ?? "")
      return x != y ? x > y : a.offset < b.offset
    }.map(\.element.bytes)
  }

  private func dig(_ subject: String?) -> WordDig {
    var dig = WordDig(subject: subject)
    for row in rows where subject == nil || row.fact?.subject == subject { dig.add(row.fact) }
    return dig
  }
}

extension FactPages {
  /// A fact that was found.
  private struct Row {
    let bytes: [UInt8]
    let fact: Fact?

    init(_ bytes: [UInt8]) {
      self.bytes = bytes
      fact = Fact(record: bytes)
    }

    /// The id, or all of what has none.
    var key: String {
      guard let fact, !fact.id.isEmpty else {
        return "\u{0}" + String(decoding: bytes, as: UTF8.self)
      }
      return fact.id
    }
  }
}
