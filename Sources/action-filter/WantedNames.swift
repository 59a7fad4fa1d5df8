import Core
import Records

/// The names that `-U` and `-g` were given, and the ids that records tell to have them.
struct WantedNames {
  private struct Wanted {
    let kind: NamedKind
    let text: String
    let key: NameKey
    var ids: [String] = []
  }

  private static let most = 4096

  private var wanted: [Wanted] = []
  private var scan = NameScan()
  private let scratch = ScanScratch()
  private let mark = LiteralSearch([.init(bytes: NameScan.mark)])
  private var passed: [NamedKind: Set<String>] = [:]
  private(set) var notes: [(what: String, reason: String)] = []

  /// Nil when all of that are ids.
  init?(_ names: [(kind: NamedKind, text: String)]) {
    for (kind, text) in names where !NameKey.isID(text) {
      wanted.append(Wanted(kind: kind, text: text, key: NameKey(text)))
    }
    if wanted.isEmpty { return nil }
  }

  mutating func learn(_ line: UnsafeRawBufferPointer) -> [ToldName] {
    if mark.find(line) == nil { return [] }
    var news: [ToldName] = []
    for told in scan.names(in: line) {
      for index in wanted.indices where wanted[index].kind == told.kind {
        guard wanted[index].key == NameKey(told.name), wanted[index].text != told.id,
          !wanted[index].ids.contains(told.id)
        else { continue }
        wanted[index].ids.append(told.id)
        news.append(told)
        tell(wanted[index], told)
      }
    }
    return news
  }

  private mutating func tell(_ wanted: Wanted, _ told: ToldName) {
    let what = "\(wanted.kind.rawValue) \(wanted.text)"
    if wanted.ids.count > 1 {
      notes.append((what, "several have this name: \(wanted.ids.joined(separator: ", "))"))
    }
    if passed[wanted.kind]?.contains(told.id) == true {
      notes.append(
        (what, "is \(told.id), which was told late; earlier actions of it were passed over"))
    }
  }

  /// Remembers whose action was left out, for it may be told later that it is wanted.
  mutating func pass(_ fields: ActionFields) {
    for (kind, id) in [(NamedKind.user, fields.user), (.guild, fields.guild)] {
      guard wanted.contains(where: { $0.kind == kind }), let id = id.string,
        passed[kind, default: []].count < Self.most
      else { continue }
      passed[kind, default: []].insert(id)
    }
  }

  mutating func finish() {
    for wanted in wanted where wanted.ids.isEmpty {
      notes.append(
        ("\(wanted.kind.rawValue) \(wanted.text)", "no such id, and no record tells the name"))
    }
  }

  mutating func takeNotes() -> [(what: String, reason: String)] {
    defer { notes = [] }
    return notes
  }
}
