import Core
import Records
import Testing

/// Holds agentutils-records(5) against the records that the code makes.
@Suite struct RecordManualTests {
  private let manual: RecordManual
  init() throws { manual = try RecordManual() }

  @Test func eachTypeIsDescribedAndEachDescribedIsOne() {
    let described = manual.sections.filter { $0.key != "Events of the dashboard" }
      .flatMap { $0.value.entries.filter { !$0.isMember }.flatMap(\.names) }
    #expect(Set(described) == Set(RecordType.allCases.map(\.rawValue)))
    #expect(described.count == RecordType.allCases.count)
  }

  @Test func eachBackendIsNamed() throws {
    let section = try #require(manual.sections["What agents do"])
    #expect(section.words == RecordOrigin.Backend.allCases.map(\.rawValue))
  }

  @Test(arguments: AgentRecordSample.all)
  func membersAreThoseOfTheManual(_ sample: AgentRecordSample) throws {
    let section = try #require(manual.sections[RecordManual.title(of: sample.type)])
    let described = section.entries.filter(\.isMember)
    let most = try members(sample.most)
    #expect(
      most
        == ["type", "backend", "profile"]
        + described.flatMap(\.names).map { $0.hasSuffix("?") ? String($0.dropLast()) : $0 }
        + ["time"])
    let least = try members(sample.least)
    #expect(
      least == ["type", "backend"] + described.flatMap(\.names).filter { !$0.hasSuffix("?") })
    for entry in described {
      let words = entry.names.flatMap { sample.words[$0.replacing("?", with: "")] ?? [] }
      #expect(Set(entry.words) == Set(words), "of \(entry.names)")
    }
    #expect(Set(sample.words.keys).isSubset(of: most))
  }

  private func members(_ record: any AgentRecord) throws -> [String] {
    try record.bytes.withUnsafeBytes { try JSONValue.parse($0) }.members.map(\.name)
  }
}

/// What agentutils-records(5) describes, section by section.
struct RecordManual {
  /// One item of a list.
  struct Entry {
    /// Whether it describes members, not a type of records.
    let isMember: Bool
    /// As they stand there: `id`, `title?`.
    let names: [String]
    /// What stands in double quotes.
    var words: [String] = []
  }

  struct Section {
    var entries: [Entry] = []
    /// What stands in double quotes outside of the lists.
    var words: [String] = []
  }

  private(set) var sections: [String: Section] = [:]

  init() throws {
    // Tests/CoreTests/Records/NAME is four levels below the folder that has man/.
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
    var page = try RecordInput(path: root.joined(separator: "/") + "/man/agentutils-records.5")
    var section = Section()
    var title = ""
    var isInList = false
    while let line = try page.next() {
      let words = String(decoding: line.bytes, as: UTF8.self).split(separator: " ")
      switch words.first {
      case ".Sh", ".Ss":
        sections[title] = section
        (title, section) = (words.dropFirst().joined(separator: " "), Section())
      case ".It":
        isInList = true
        if let entry = Self.entry(words.dropFirst()) { section.entries.append(entry) }
      case ".El": isInList = false
      case ".Dq":
        guard words.count > 1 else { continue }
        let word = String(words[1])
        if isInList, let last = section.entries.indices.last {
          section.entries[last].words.append(word)
        } else {
          section.words.append(word)
        }
      default: break
      }
    }
    sections[title] = section
  }

  private static func entry(_ words: ArraySlice<Substring>) -> Entry? {
    guard let first = words.first else { return nil }
    if first == "Va" {
      return Entry(
        isMember: true, names: words.dropFirst().filter { $0 != "," }.map { String($0) })
    }
    guard words.count == 1, first.allSatisfy({ $0 == "_" || $0.isLowercase }) else { return nil }
    return Entry(isMember: false, names: [String(first)])
  }

  /// The heading over the members of a type.
  static func title(of type: RecordType) -> String {
    type.rawValue.prefix(1).uppercased() + type.rawValue.dropFirst().replacing("_", with: " ")
  }
}
