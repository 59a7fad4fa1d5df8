import Bus
import Core

struct PutOptions {
  private(set) var bus = BusOptions()
  /// `--subject`: of all records.
  private(set) var subject: String?
  /// `--prefix`: in front of what they say, an agent's name or a group's and an agent's.
  private(set) var prefix: String?
  private(set) var ids = BusLabels.IDs.digest
  private(set) var window = 256
  /// How a stream is made where there is none; nil to make none.
  var plan: BusStreamPlan? { creates ? made : nil }
  /// What is kept of the last record that was stored.
  private(set) var state: String?
  private(set) var isWrapped = false
  private(set) var confirms = false
  private var creates = false
  private var made = BusStreamPlan(prefixed: false)

  static let table = OptionTable<PutOptions>(
    program: "bus-put",
    summary: "Publish records, a line each, to a stream on a bus.",
    synopsis: "[options]",
    operands: .none,
    options: BusOptions.options.at(\.bus) + [
      Option(
        nil, "source", "STREAM,...", "with --create: take the records of these streams",
        Reading(sources)
      ) { $0.made.sources += $1 }.rare,
      Option("u", "subject", "SUBJECT", "publish all under this subject", Reading(subject)) {
        $0.subject = $1
      },
      Option("m", "meta", "read what bus-get -m prints") { $0.isWrapped = true },
      Option(nil, "confirm", "print what became of each line") { $0.confirms = true },
      Option(nil, "prefix", "AGENT", "begin the subjects with this name", Reading(prefix)) {
        $0.prefix = $1
      },
      Option(
        nil, "id", "/POINTER", "the member that is the message id, or none",
        Reading(ids, completion: .words(["none"]))
      ) { $0.ids = $1 }.rare,
      Option(
        nil, "window", "COUNT", "have at most COUNT records on their way (default: 256)",
        .wholeNumber(in: 1...65536)
      ) { $0.window = $1 }.rare,
      Option(nil, "create", "make the stream if there is none") { $0.creates = true },
      Option(
        nil, "replicas", "COUNT", "with --create: servers that keep a copy (default: 1)",
        .wholeNumber(in: 1...5)
      ) { $0.made.replicas = $1 }.rare,
      Option(nil, "max-age", "SECONDS", "with --create: forget older records", .seconds) {
        $0.made.maxAge = $1
      }.rare,
      Option(
        nil, "max-bytes", "BYTES", "with --create: forget the oldest beyond this",
        .wholeNumber(in: 1...Int.max)
      ) { $0.made.maxBytes = $1 }.rare,
      Option(nil, "work-queue", "with --create: forget what a reader acknowledged") {
        $0.made.isWorkQueue = true
      }.rare,
      Option(nil, "state", "FILE", "remember in FILE what is stored, for sse-tail --resume", .path)
      {
        $0.state = $1
      },
    ]
  ) { options, words throws(UsageError) in try options.finish(words) }

  private mutating func finish(_ words: CommandWords) throws(UsageError) {
    if let word = words.operands.first { throw UsageError("too many words: \(word)") }
    if subject != nil, prefix != nil { throw UsageError("--prefix is not for --subject") }
    if isWrapped, let name = words.names.first(where: { ["subject", "id"].contains($0) }) {
      throw UsageError("--\(name) is not for --meta")
    }
    if state?.isEmpty == true { throw UsageError("--state: no file is named") }
    guard creates else {
      let lonely = words.names.first {
        ["replicas", "max-age", "max-bytes", "source", "work-queue"].contains($0)
      }
      if let lonely { throw UsageError("--\(lonely) is for --create") }
      return
    }
    if let maxAge = made.maxAge, !(1...BusStreamPlan.longest ~= maxAge) {
      throw UsageError("--max-age: a second at least, 280 years at most")
    }
    if !made.sources.isEmpty {
      // A stream that sources has no subjects of its own: nothing is published to it.
      let lonely = words.names.first { ["prefix", "subject"].contains($0) }
      if let lonely { throw UsageError("--\(lonely) is not for --source") }
      made.subjects = []
    } else if let subject {
      made.subjects = [subject]
    } else if let prefix {
      let group = prefix.split(separator: ".").dropLast().last.map { String($0) }
      made.subjects = BusStreamPlan(prefixed: true, group: group).subjects
    }
  }

  @Sendable private static func subject(_ argument: OptionArgument) throws(UsageError) -> String {
    if let fault = BusSubject.fault(of: argument.value) { throw argument.fault(fault) }
    return argument.value
  }

  @Sendable private static func prefix(_ argument: OptionArgument) throws(UsageError) -> String {
    let words = argument.value.split(separator: ".", omittingEmptySubsequences: false)
    guard words.count <= 2, words.allSatisfy({ BusSubject.isName(String($0)) }) else {
      throw argument.fault("not a name, or GROUP.NAME: letters, digits, - and _")
    }
    return argument.value
  }

  @Sendable private static func sources(
    _ argument: OptionArgument
  ) throws(UsageError) -> [BusSource] {
    try argument.words.map {
      text throws(UsageError) in
      guard let source = BusSource(text[...]) else {
        throw argument.fault("not STREAM or STREAM@DOMAIN: letters, digits, - and _")
      }
      return source
    }
  }

  @Sendable private static func ids(
    _ argument: OptionArgument
  ) throws(UsageError) -> BusLabels.IDs {
    if argument.value == "none" { return .none }
    guard argument.value.hasPrefix("/") else { throw argument.fault("not a JSON pointer or none") }
    return .member(try JSONPointer(argument.value))
  }
}
