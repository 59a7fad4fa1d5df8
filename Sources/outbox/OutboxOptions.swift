import Agent
import Core
import Screen

struct OutboxOptions {
  enum Verb: String, CaseIterable {
    case add, list, flush, drop

    fileprivate static func taking(_ option: String) -> [Verb]? {
      switch option {
      case "all": [.list, .flush, .drop]
      case "old": [.flush]
      case "max-time": [.flush]
      case "token-file", "allow-plaintext", "cacert": [.flush]
      default: nil
      }
    }
  }

  private(set) var verb = Verb.list
  private(set) var ids: [TID] = []
  private(set) var isAll = false
  private(set) var isOld = false
  /// `--max-time`, seconds.
  private(set) var tokenTime: Double?
  /// How long a server that does not answer is asked, seconds.
  var maxTime: Double { tokenTime ?? 60 }
  private(set) var form: RowOutput.Form?
  private(set) var look = LookOptions()
  private(set) var isVerbose = false
  private(set) var access = AccessOptions()

  static let table = OptionTable<OutboxOptions>(
    program: "outbox",
    summary: "Show and send what is kept until a server can be reached again.",
    synopsis: "[options] add|list|flush|drop [ID ...]",
    operands: .verbs(Verb.allCases.map { .init($0.rawValue, $0 == .drop ? waiting : .none) }),
    options: [
      Option(
        nil, "all", "list: also what ended badly; flush: every profile; drop: everything", \.isAll),
      Option(
        nil, "max-time", "SECONDS",
        "flush: give up after this time without an answer (default: 60)", .seconds, \.tokenTime),
      Option(nil, "old", "flush: say without asking what is older than a day", \.isOld),
      AccessOptions.profile.at(\.access), RowOutput.Form.output.at(\.form),
      LookOptions.header.at(\.look), Option.verbose("notes about each call").at(\.isVerbose),
    ] + LookOptions.options(width: "the width of a table (0: no limit)").at(\.look)
      + AccessOptions.credentials.at(\.access)
  ) { options, words throws(UsageError) in try options.finish(words) }

  private static let waiting = Completion.live {
    guard let profile = try? Settings().profile(),
      let file = try? OutboxFile(profile: profile.name, Diagnostics(program: "outbox")),
      (try? file.look()) != nil
    else { return [] }
    return (file.fold.open + file.fold.closed).map(\.id.description)
  }

  private mutating func finish(_ words: CommandWords) throws(UsageError) {
    verb = try words.verb(taking: Verb.taking)
    let rest = words.operands.dropFirst()
    if verb != .drop, let more = rest.first { throw UsageError("too many words: \(more)") }
    ids = try rest.map { text throws(UsageError) in
      guard let id = TID(text) else { throw UsageError("\(text): not an id of list") }
      return id
    }
    if verb == .drop && isAll != ids.isEmpty {
      throw UsageError(isAll ? "drop: --all or an ID" : "drop which ID, or --all?")
    }
    if verb == .flush && isAll && access.profile != nil {
      throw UsageError("--profile and --all: one of them says whose")
    }
    if maxTime <= 0 { throw UsageError("--max-time: above 0") }
  }
}
